from pathlib import Path

from tests import budget

TESTS = Path("repository/tests")


def test_a_folder_belongs_to_a_room() -> None:
    assert budget.room_of(TESTS / "crash" / "test_kill.py", TESTS, on_hbase=False) == "store"
    assert budget.room_of(TESTS / "contract" / "test_get.py", TESTS, on_hbase=True) == "HBase"
    assert budget.room_of(TESTS / "cli" / "test_main.py", TESTS, on_hbase=False) == "the rest"
    simulation = TESTS / "simulation"
    assert budget.room_of(simulation / "test_links.py", TESTS, on_hbase=False) == "links"
    assert budget.room_of(simulation / "test_index.py", TESTS, on_hbase=False) == "records"
    assert budget.room_of(TESTS / "test_errors.py", TESTS, on_hbase=False) == "the rest"


def test_only_a_room_over_its_plan_is_named() -> None:
    rows, over = budget.table({"store": 4 * 60.0, "HBase": 9 * 60.0 + 75})
    assert [row.split() for row in rows] == [
        ["store", "4:00", "of", "4:00"],
        ["HBase", "10:15", "of", "9:00"],
    ]
    assert over == ["OVER THE PLAN: HBase took 10:15, planned 9:00"]


def test_files_with_a_room_of_their_own_are_there() -> None:
    tests = Path(__file__).parents[1]
    assert all((tests / name).is_file() for name in budget.ROOM_OF_FILE)


def test_every_room_has_a_share_and_the_shares_fit_the_limit() -> None:
    assert set(budget.ROOM_OF_FOLDER.values()) | {budget.REST} == set(budget.PLAN_MINUTES)
    assert sum(budget.PLAN_MINUTES.values()) <= 30
