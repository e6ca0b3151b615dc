"""The scheduler on both engines, with jobs of the test and a clock that the test moves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

import webtable
from tests.operations.conftest import ENGINES
from tests.operations.jobs.clock import START_MS, HandClock
from webtable.errors import ConflictError, DiskFull, NotFound
from webtable.operations.jobs import scheduler as scheduler_module
from webtable.operations.jobs.job import Job, JobResult, JobRun
from webtable.operations.jobs.job_record import KIND, Run
from webtable.operations.jobs.lease_renewal_and_interruption import POLL_MS
from webtable.operations.jobs.leases import TAKE_AFTER_MS, Leases
from webtable.operations.jobs.scheduler import JobStatus, Scheduler
from webtable.operations.jobs.store_access import StoreAccess

HOUR_MS = 3_600_000


@pytest.fixture(scope="module", params=ENGINES)
def access(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StoreAccess]:
    if request.param == "rocks":
        location = str(tmp_path_factory.mktemp("jobs") / "store")
    else:
        location = request.getfixturevalue("hbase_location") + "?namespace=jobs"
    with webtable.open(location) as store:
        store.create_table("t", "f").put(b"row", {b"f:q": b"v"})
    opened = StoreAccess(location)
    yield opened
    opened.close()


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return re.sub(r"[^a-z]+", "-", str(request.node.originalname))


class Play:
    """A scheduler with one job, whose work is the test's."""

    def __init__(
        self, access: StoreAccess, name: str, work: Callable[[JobRun], JobResult | str]
    ) -> None:
        def worked(run: JobRun) -> JobResult:
            done = work(run)
            return JobResult(done) if isinstance(done, str) else done

        engines = frozenset({access.engine})
        self.job = Job(name, "For a test.", 3_600, engines, worked, writes=True)
        self.access = access
        self.clock = HandClock()
        self.scheduler = Scheduler(access, jobs=[self.job], clock=self.clock)

    def due(self) -> Run | None:
        ended = self.scheduler.run_due()
        return ended[0].run if ended else None

    def status(self) -> JobStatus:
        (status,) = self.scheduler.status()
        return status


def test_a_job_runs_at_once_and_then_in_its_period(access: StoreAccess, name: str) -> None:
    play = Play(access, name, lambda run: f"{len(run.store.tables()) > 0}")
    before = play.status()
    assert (before.last, before.next_ms, before.holder) == (None, START_MS, "")
    run = play.due()
    assert run is not None
    assert (run.number, run.outcome, run.summary) == (1, "done", "True")
    assert (run.began_ms, run.ended_ms) == (START_MS, START_MS)
    assert play.due() is None
    assert play.status().next_ms == START_MS + HOUR_MS
    play.clock.pass_ms(HOUR_MS - 1)
    assert play.due() is None
    play.clock.pass_ms(1)
    again = play.due()
    assert again is not None
    assert again.number == 2
    assert [each.run.number for each in play.scheduler.history(name)] == [2, 1]
    assert [each.job for each in play.scheduler.history()] == [name] * 2


def test_a_clock_that_was_set_back_does_not_stop_a_job(access: StoreAccess, name: str) -> None:
    play = Play(access, name, lambda run: "")
    assert play.due() is not None
    play.clock.set_day(START_MS - 10 * HOUR_MS)
    assert play.due() is not None
    assert play.due() is None


def test_an_error_is_recorded_and_the_job_backs_off(access: StoreAccess, name: str) -> None:
    def fail(run: JobRun) -> str:
        raise DiskFull("the disk is full", hint="make room")

    play = Play(access, name, fail)
    delays = []
    for _ in range(9):
        run = play.due()
        assert run is not None
        assert (run.outcome, run.error, run.hint) == ("failed", "DiskFull", "make room")
        assert run.summary == "the disk is full"
        due_ms = play.status().next_ms
        assert due_ms is not None
        delays.append((due_ms - play.clock.now_ms()) // 1000)
        play.clock.pass_ms(delays[-1] * 1000)
    assert delays == [60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600]
    assert play.status().failures == 9


def test_a_run_that_succeeds_ends_the_delay(access: StoreAccess, name: str) -> None:
    failing = [True]

    def work(run: JobRun) -> str:
        if failing:
            raise ValueError("a defect")
        return ""

    play = Play(access, name, work)
    run = play.due()
    assert run is not None
    assert (run.outcome, run.error, run.summary) == ("failed", "ValueError", "a defect")
    failing.clear()
    play.clock.pass_ms(60_000)
    assert play.due() is not None
    assert play.status().failures == 0
    assert play.status().next_ms == play.clock.now_ms() + HOUR_MS


def test_problems_are_shown_and_the_run_counts_as_complete(access: StoreAccess, name: str) -> None:
    found = [f"problem {number}" for number in range(7)]
    play = Play(access, name, lambda run: JobResult("7 found", found, hint="repair"))
    run = play.due()
    assert run is not None
    assert (run.outcome, run.hint) == ("problems", "repair")
    assert run.summary.startswith("7 found; problem 0; ")
    assert run.summary.endswith("; problem 4; 2 more")
    assert play.status().next_ms == START_MS + HOUR_MS


def test_a_position_survives_an_error(access: StoreAccess, name: str) -> None:
    seen: list[object] = []

    def work(run: JobRun) -> str:
        seen.append(run.position)
        run.save({"at": len(seen)})
        raise DiskFull("full")

    play = Play(access, name, work)
    for _ in range(3):
        assert play.due() is not None
        play.clock.pass_ms(HOUR_MS)
    assert seen == [None, {"at": 1}, {"at": 2}]


def test_a_running_job_is_listed_and_cancelled(access: StoreAccess, name: str) -> None:
    statuses: list[JobStatus] = []

    def work(run: JobRun) -> str:
        statuses.append(play.status())
        play.scheduler.cancel(name)
        run.step()  # operational state is read twice a second
        play.clock.pass_ms(POLL_MS)
        run.step()
        raise AssertionError("it was cancelled")

    play = Play(access, name, work)
    run = play.due()
    assert run is not None
    assert run.outcome == "cancelled"
    (status,) = statuses
    assert status.holder == run.by
    assert (status.running_ms, status.next_ms) == (START_MS, None)
    # A later run is not concerned.
    later = Play(access, name, _one_step)
    later.clock.pass_ms(HOUR_MS + POLL_MS)
    again = later.due()
    assert again is not None
    assert again.outcome == "done"
    with pytest.raises(ConflictError, match="is not running"):
        play.scheduler.cancel(name)


def test_a_scheduler_that_stops_ends_the_run_and_gives_the_lease_back(
    access: StoreAccess, name: str
) -> None:
    def work(run: JobRun) -> str:
        run.save(5)
        play.scheduler.stop()
        run.step()
        raise AssertionError("it was stopped")

    play = Play(access, name, work)
    play.scheduler.run()
    (ended,) = play.scheduler.history(name)
    assert ended.run.outcome == "stopped"
    assert play.status().holder == ""
    # The next scheduler continues at once.
    later = Play(access, name, lambda run: f"{run.position}")
    run = later.due()
    assert run is not None
    assert (run.outcome, run.summary) == ("done", "5")


def test_an_interrupt_of_the_program_gives_the_lease_back(access: StoreAccess, name: str) -> None:
    def work(run: JobRun) -> str:
        raise KeyboardInterrupt

    play = Play(access, name, work)
    with pytest.raises(KeyboardInterrupt):
        play.due()
    assert play.status().holder == ""
    assert [each.run.outcome for each in play.scheduler.history(name)] == ["stopped"]


def _one_step(run: JobRun) -> str:
    run.step()
    return ""


def _abandon(play: Play) -> None:
    """Takes the lease as a process that dies then."""
    leases = Leases(play.access.state, KIND, clock=play.clock, process=lambda: "dead:1")
    assert leases.take(play.job.name, lambda old: b'{"began_ms":5}') is not None


def test_the_run_of_a_dead_process_is_recorded_as_lost(access: StoreAccess, name: str) -> None:
    play = Play(access, name, lambda run: "")
    _abandon(play)
    assert play.due() is None
    play.clock.pass_ms(TAKE_AFTER_MS - 1)
    assert play.due() is None
    play.clock.pass_ms(1)
    lost = play.due()
    assert lost is not None
    assert (lost.number, lost.outcome, lost.by, lost.began_ms) == (1, "lost", "dead:1", 5)
    assert play.due() is None  # it may be what ended the process: not at once
    play.clock.pass_ms(60_000)
    run = play.due()
    assert run is not None
    assert (run.number, run.outcome) == (3, "done")


def test_a_process_that_was_paused_records_nothing(access: StoreAccess, name: str) -> None:
    def work(run: JobRun) -> str:
        other = Play(access, name, lambda run: "other")
        assert other.due() is None
        other.clock.pass_ms(TAKE_AFTER_MS)
        assert other.due() is not None
        run.save("mine")
        return "mine"

    play = Play(access, name, work)
    run = play.due()
    assert run is not None
    assert run.outcome == "lost"
    assert [each.run.outcome for each in play.scheduler.history(name)] == ["lost"]
    (lease,) = [each for key, each in Leases(access.state, KIND).read_all() if key == name]
    assert b"mine" not in bytes(lease.content)


def test_one_run_now(access: StoreAccess, name: str) -> None:
    play = Play(access, name, lambda run: "now")
    assert play.scheduler.run_once(name).summary == "now"
    assert play.scheduler.run_once(name).number == 2
    assert play.due() is None
    with pytest.raises(NotFound, match="job 'other' does not exist"):
        play.scheduler.run_once("other")
    with pytest.raises(NotFound):
        play.scheduler.history("other")


def test_one_run_now_takes_over_from_a_dead_process(
    access: StoreAccess, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler_module, "_WATCH_SECONDS", 0)

    class Running(HandClock):
        """Each read of the clock takes two seconds."""

        def elapsed_ms(self) -> int:
            self.pass_ms(2_000)
            return super().elapsed_ms()

    play = Play(access, name, lambda run: "taken over")
    _abandon(play)
    scheduler = Scheduler(access, jobs=[play.job], clock=Running())
    assert scheduler.run_once(name).summary == "taken over"
    assert [each.run.outcome for each in scheduler.history(name)] == ["done", "lost"]


def test_a_job_of_another_engine_is_not_listed(access: StoreAccess, name: str) -> None:
    other = frozenset({"cluster" if access.engine == "embedded" else "embedded"})
    play = Play(access, name, lambda run: "")
    job = play.job._replace(engines=other)  # type: ignore[arg-type]
    assert Scheduler(access, jobs=[job]).status() == []


def test_a_record_that_cannot_be_read_stops_no_other_job(access: StoreAccess, name: str) -> None:
    play = Play(access, name, lambda run: "")
    broken = play.job._replace(name=f"{name}-broken")
    assert access.state.put_if(KIND, broken.name, None, b"damaged")
    scheduler = Scheduler(access, jobs=[broken, play.job], clock=play.clock)
    assert [each.job for each in scheduler.run_due()] == [name]
    old = access.state.get(KIND, broken.name)
    assert old is not None
    assert access.state.delete_if(KIND, broken.name, old)
