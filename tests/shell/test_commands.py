"""The commands one by one: what they do to the store, and what they reject and why."""

from __future__ import annotations

import pytest

from tests.shell.running import Shell
from webtable import CellType

EMBEDDED = "the embedded store"


@pytest.fixture
def filled(shell: Shell) -> Shell:
    shell.answer(
        "create 't', {NAME => 'f', VERSIONS => 3}, 'g'\n"
        "put 't', 'a', 'f:q', 'one', 1\n"
        "put 't', 'a', 'f:q', 'two', 2\n"
        "put 't', 'b', 'g:n', \"\\x00\\x00\\x00\\x07\", 3"
    )
    return shell


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("scan", "scan takes 1 to 2 argument(s), 0 given\nhint: see `help 'scan'`"),
        ("list 'a', 'b'", "list takes 0 to 1 argument(s), 2 given"),
        ("put 't', 'r'", "put takes at least 4 argument(s), 2 given"),
        ("scan 5", "the table's name is a number: 5\nhint: expected a string in quotes"),
        ("scan 'a b'", "table name 'a b' is not valid"),
        ("scan 't', 5", "the second argument is a number: 5\nhint: expected a hash"),
        ("scan 't', {'LIMITS' => 1}", "scan has no option LIMITS\nhint: did you mean LIMIT?"),
        ("scan 't', {'limit' => 1}", "scan has no option limit\nhint: did you mean LIMIT?"),
        ("scan 't', {LIMIT => 'x'}", 'LIMIT is a string: "x"\nhint: expected a whole number'),
        ("scan 't', {TIMERANGE => [1]}", "TIMERANGE has 1 entries"),
        ("scan 't', {TIMERANGE => [5, 1]}", "time range [5, 1) is not valid"),
        ("scan 't', {REVERSED => 1}", "REVERSED is a number: 1\nhint: expected true or false"),
        ("scan 't', {FILTER => 'NoFilter()'}", "filter text, position 0"),
        ("scan 't', {ALL_METRICS => true}", "scan cannot have ALL_METRICS"),
        ("scan 't', {COLUMNS => 'f:q:toInteger'}", "there is no formatter toInteger"),
        ("scan 't', {COLUMNS => 'f:q:toLong'}", "value of f:q: 'two' has 3 bytes"),
        ("scan 't', {FORMATTER => 'toInt', FORMATTER_CLASS => 'x.Y'}", "formatters of class x.Y"),
        ("scan 't', {RAW => true, COLUMNS => 'f:q'}", "a raw scan cannot name columns"),
        ("get 't', ''", "row key is empty"),
        ("get 't', 'a', 'nofamily:q'", "family 'nofamily' is not in table 't'"),
        ("get 't', 'a', {COLUMN => 'f'}, 5", "get takes nothing after its options"),
        ("count 't', INTERVAL => 0", "INTERVAL 0 is less than 1"),
        ("get_counter 't', 'a', 'f:q'", "'two' in f:q is no counter"),
        ("incr 't', 'a', 'f:q'", "column b'f:q' is not a counter"),
        ("incr 't', 'a', 'f:c', 'x'", 'the number after the column is a string: "x"'),
        ("put 't', 'a', 'f:q', 'v', -1", "timestamp -1 is not valid"),
        ("put 't', 'a', 'f:q', 'v', 1, 2", "the last argument is a number: 2"),
        ("put 't', 'a', 'f:q', 'v', {VISIBILITY => 'x'}", "put cannot have VISIBILITY"),
        ("put 't', 'a', 'f:q', 'v', 1, {}, 3", "put has too many arguments"),
        ("put 't', 'a', ':q', 'v'", "column b':q' does not name a family"),
        ("delete 't', 'a', ''", "the column is empty\nhint: `deleteall` deletes a whole row"),
        ("deleteall 't', {ROWPREFIXFILTER => ''}", "ROWPREFIXFILTER is empty"),
        ("create 't', 'f'", "table 't' exists already"),
        ("create 'u'", "table 'u' has no family"),
        ("create 'u', 'a:b'", "family name 'a:b' is not valid"),
        ("create 'u', {NAME => 'f', VERSIONS => 0}", "versions 0 is out of range"),
        ("create 'u', {NAME => 'f', COMPRESSION => 'ZIP'}", "compression 'ZIP' is not valid"),
        ("create 'u', {NAME => 'f', TTL => 'a while'}", "TTL 'A WHILE' is not valid"),
        ("create 'u', {NAME => 'f', ENCRYPTION => 'AES'}", "family 'f' cannot have ENCRYPTION"),
        ("create 'u', 'f', {SPLITS => ['a', 'a']}", "split keys hold an empty key or one twice"),
        ("create 'u', 'f', {NUMREGIONS => 1, SPLITALGO => 'UniformSplit'}", "NUMREGIONS 1 is out"),
        (
            "create 'u', 'f', {NUMREGIONS => 4, SPLITALGO => 'Even'}",
            "SPLITALGO 'Even' is not valid",
        ),
        ("create 'u', 'f', {SPLITS_FILE => 'nowhere.txt'}", "SPLITS_FILE 'nowhere.txt' cannot be"),
        ("create 'u', 'f', COPROCESSOR => 'x'", "a table cannot have COPROCESSOR here"),
        ("alter 't'", "alter has nothing to change"),
        ("alter_async 't'", "alter_async has nothing to change"),
        ("alter 't', 'delete' => 'h'", "family 'h' is not in table 't'"),
        ("alter 't', METHOD => 'shrink', NAME => 'f'", "METHOD 'shrink' is not valid"),
        ("alter 't', METHOD => 'table_att_unset', NAME => 'X'", "table 't' has no option X"),
        ("drop 't'", "table 't' is enabled\nhint: disable 't' first"),
        ("list '['", "regular expression '[', position 1: a class that is not closed"),
        ("list '(?=(a+)+b)a'", "regular expression '(?=(a+)+b)a' could take more than"),
        ("describe_namespace 'x'", "namespace 'x' does not exist\nhint: known namespaces: default"),
        ("alter_namespace 'x'", "alter_namespace has nothing to change"),
        ("alter_namespace 'x', {METHOD => 'put'}", "METHOD 'put' is not valid\nhint: 'set' or"),
        ("alter_namespace 'x', {METHOD => 'unset', 'a' => 'b'}", "alter_namespace with METHOD"),
        ("alter_namespace 'x', {METHOD => 'unset'}", "NAME is nil: nil"),
        ("list_regions 't', nil, ['X']", "list_regions has no column X"),
        ("list_regions 't', {LOCALITY_THRESHOLD => 2.0}", "LOCALITY_THRESHOLD 2.0 is not valid"),
        ("flush 'nowhere'", "region 'nowhere' does not exist\nhint: `list_regions` shows"),
        ("merge_region 'a'", "merge_region needs at least 2 regions"),
        ("status 'all'", "status 'all' is not valid"),
        ("status 'replication', 'x'", "status of 'x' is not valid\nhint: both, source, sink"),
        ("exit 999", "exit code 999 is out of range"),
        ("help 'scna'", "command 'scna' does not exist\nhint: did you mean scan?"),
        ("grant 'u', 'R'", "grant is not supported here\nhint: use HBase's own shell for security"),
        ("refresh_meta", "refresh_meta is not supported here\nhint: no server of HBase 2.6"),
        ("flush 't', 'nofamily'", "family 'nofamily' is not in table 't'"),
        ("flush 'embedded', 'f'", "a server is flushed with all families"),
        ("balancer 'now'", "balancer has no option 'now'\nhint: 'dry_run' or 'ignore_rit'"),
        ("normalize 't'", "what to normalize is a string"),
        ("normalize TABLE => 't'", "normalize has no option TABLE\nhint: did you mean TABLE_NAME?"),
        ("splitormerge_switch 'X', true", "switch 'X' is not valid\nhint: 'SPLIT' or 'MERGE'"),
        ("normalizer_switch 1", "the switch is a number: 1\nhint: expected true or false"),
        ("clear_compaction_queues 's', 'x'", "queue 'x' is not valid\nhint: 'long' or 'short'"),
        ("get_slowlog_responses '*', {'FILTER_BY_OP' => 'XOR'}", "FILTER_BY_OP 'XOR' is not valid"),
        (
            "get_slowlog_responses '*', {'TABLE' => 'x'}",
            "get_slowlog_responses has no option",
        ),
        ("get_balancer_decisions LIMIT => 'x'", 'LIMIT is a string: "x"'),
        ("decommission_regionservers 5", "a name is a number: 5"),
        ("snapshot 't', 's', {VERSIONS => 5}", "snapshot has no option VERSIONS"),
        ("clone_snapshot 's', 't', {TTL => 5}", "clone_snapshot has no option TTL"),
        ("restore_snapshot 's', {RESTORE_ACL => 5}", "RESTORE_ACL is a number: 5"),
        ("trace 'start'", "calls cannot be traced from here\nhint: HBase's shell hands its spans"),
        ("trace 'x'", "trace 'x' is not valid"),
        ("compact 't', nil, 'MOB'", 'there are no compactions of kind "MOB"\nhint: HBase 2.6'),
        ("major_compact 't', 'f', 'X'", 'there are no compactions of kind "X"\nhint: NORMAL'),
    ],
)
def test_bad_input_gets_one_clear_error(reader: Shell, command: str, message: str) -> None:
    error = reader.error(command)
    assert error.startswith(f"script:1: {message}"), error


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("balancer", "the embedded store has no balancer"),
        ("balance_switch true", "the embedded store has no balancer"),
        ("move 't,0'", "the embedded store moves no regions"),
        ("split 't'", "the embedded store splits no regions"),
        ("split 't,0', 'b'", "the embedded store splits no regions"),
        ("merge_region 't,0', 't,0'", "the embedded store merges no regions"),
        ("snapshot 't', 's'", "the embedded store takes no snapshots"),
        ("list_snapshots", "the embedded store takes no snapshots"),
        ("restore_snapshot 's'", "the embedded store takes no snapshots"),
        ("clone_snapshot 's', 'u'", "the embedded store takes no snapshots"),
        ("delete_snapshot 's'", "the embedded store takes no snapshots"),
        ("delete_all_snapshot '.*'", "the embedded store takes no snapshots"),
        ("list_table_snapshots 't'", "the embedded store takes no snapshots"),
        ("delete_table_snapshots 't'", "the embedded store takes no snapshots"),
        ("create_namespace 'x', {'a' => 'b'}", f"{EMBEDDED} keeps no properties of namespaces"),
        (
            "alter_namespace 'x', {METHOD => 'set', 'a' => 5}",
            f"{EMBEDDED} keeps no properties of namespaces",
        ),
        ("assign 't,0'", "the embedded store assigns no regions"),
        ("unassign 't,0'", "the embedded store assigns no regions"),
        ("truncate_region 't,0'", "the embedded store truncates no regions"),
        ("clear_block_cache 't'", f"{EMBEDDED} has one cache for all tables, which empties itself"),
        ("processlist", "the embedded store has no tasks"),
        ("status 'tasks'", "the embedded store is one server"),
        ("status 'replication'", "the embedded store is one server"),
        ("clear_deadservers", "the embedded store is one server"),
        ("list_decommissioned_regionservers", "the embedded store is one server"),
        ("decommission_regionservers 'embedded', true", "the embedded store is one server"),
        ("recommission_regionserver 'embedded'", "the embedded store is one server"),
        ("stop_regionserver 'embedded'", "the embedded store is one server"),
        ("wal_roll 'embedded'", "the embedded store begins new logs by itself"),
        ("hlog_roll 'embedded'", "the embedded store begins new logs by itself"),
        ("compaction_switch false", "the embedded store compacts when it has to"),
        ("clear_compaction_queues 'embedded'", "the embedded store has no queues of compactions"),
        ("get_slowlog_responses '*'", "the embedded store remembers no slow calls"),
        ("get_largelog_responses ['embedded']", "the embedded store remembers no slow calls"),
        ("clear_slowlog_responses", "the embedded store remembers no slow calls"),
        ("get_balancer_decisions", "the embedded store has no balancer"),
        ("get_balancer_rejections", "the embedded store has no balancer"),
        ("zk_dump", "the embedded store needs no ZooKeeper"),
        ("normalize", "the embedded store has no regions to normalize"),
        ("normalizer_switch true", "the embedded store has no switches"),
        ("catalogjanitor_enabled", "the embedded store has no switches"),
        ("snapshot_cleanup_switch true", "the embedded store has no switches"),
        ("splitormerge_enabled 'SPLIT'", "the embedded store has no switches"),
        ("catalogjanitor_run", "the embedded store has no catalog janitor"),
        ("cleaner_chore_run", f"{EMBEDDED} has no cleaner: old files go by themselves"),
        ("hbck_chore_run", "the embedded store has no regions that could be lost"),
        ("flush_master_store", "the embedded store has no master"),
        ("is_in_maintenance_mode", "the embedded store has no master"),
        ("stop_master", "the embedded store has no master"),
    ],
)
def test_what_needs_a_cluster_says_so(reader: Shell, command: str, message: str) -> None:
    error = reader.error(command)
    assert error.startswith(f"script:1: {message}\nhint: "), error


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("get 't', 'a', {COLUMN => 'f', VERSIONS => 5, MAXLENGTH => 15}", "2 cells"),
        ("get 't', 'a', {VERSIONS => 5}", "2 cells"),
        ("get 't', 'a', {CONSISTENCY => 'STRONG'}", "1 cells"),
        ("scan 't', {CACHE => 1, CACHE_BLOCKS => false, READ_TYPE => 'PREAD'}", "2 cells"),
        ("scan 't', {ENDKEY => 'b'}", "1 cells"),
        ("scan 't', {'ENDROW' => 'b'}", "1 cells"),
        ("scan 't', {STARTKEY => 'b'}", "1 cells"),
        ("scan 't', {VERSIONS => 0}", "2 cells"),
        ("scan 't', {LIMIT => '1'}", "1 cells"),
        ("scan 't', {COLUMN => ['f']}", "1 cells"),
    ],
)
def test_options_of_reads(reader: Shell, command: str, answer: str) -> None:
    assert f"{reader.answer(command).count('timestamp=')} cells" == answer


def test_a_qualifier_may_hold_colons(filled: Shell) -> None:
    filled.answer("put 't', 'c', 'f:https://example.org/', 'link', 1")
    shown = filled.answer("get 't', 'c', 'f:https://example.org/'")
    assert " f:https://example.org/ timestamp=1970-01-01T00:00:00.001, value=link\n" in shown


@pytest.mark.parametrize(
    ("formatter", "value", "shown"),
    [
        ("toInt", r"\xff\xff\xff\xfe", "-2"),
        ("toLong", r"\x00\x00\x00\x00\x00\x00\x01\x00", "256"),
        ("toShort", r"\x01\x00", "256"),
        ("toFloat", r"\x3f\xc0\x00\x00", "1.5"),
        ("toDouble", r"\x7f\xf0\x00\x00\x00\x00\x00\x00", "Infinity"),
        ("toBoolean", r"\xff", "true"),
        ("toBigDecimal", r"\x00\x00\x00\x02\x00\x96", "1.50"),
        ("toString", r"\xc3\xa9", "é"),
        ("toHex", r"\x00\xff", "00ff"),
        ("toStringBinary", r"\x00a", r"\x00a"),
    ],
)
def test_formatters(reader: Shell, formatter: str, value: str, shown: str) -> None:
    reader.answer(f"put 't', 'z', 'g:v', \"{value}\", 1")
    shown_now = reader.answer(f"get 't', 'z', 'g:v:{formatter}'")
    reader.answer("major_compact 't'; deleteall 't', 'z'; major_compact 't'")
    assert f"value={shown}\n" in shown_now


def test_timestamps_can_be_numbers(reader: Shell) -> None:
    reader.session.epoch = True
    assert " a column=f:q, timestamp=2, value=two\n" in reader.answer("scan 't'")


def test_delete_takes_one_version_and_deleteall_all(filled: Shell) -> None:
    filled.answer("delete 't', 'a', 'f:q'")
    assert "value=one" in filled.answer("get 't', 'a'")
    filled.answer("deleteall 't', 'a', 'f'")
    assert "0 row(s)" in filled.answer("get 't', 'a'")
    kinds = {cell.type for row in filled.store.table("t").scan(raw=True) for cell in row.cells}
    assert {CellType.DELETE, CellType.DELETE_FAMILY} <= kinds


def test_delete_of_a_family_is_of_its_versions_now(filled: Shell) -> None:
    filled.answer("delete 't', 'a', 'f', 2")
    assert "value=one" in filled.answer("get 't', 'a'")
    filled.answer("delete 't', 'a', 'f'")
    assert "value=one" in filled.answer("get 't', 'a'")


def test_rows_of_a_prefix_are_deleted_whatever_bytes_they_have(filled: Shell) -> None:
    filled.answer("put 't', \"p\\x00\", 'f:q', 'v'; put 't', \"p\\xff\", 'f:q', 'v'")
    filled.answer("deleteall 't', {ROWPREFIXFILTER => 'p', CACHE => 1}")
    assert filled.answer("count 't'") == "2 row(s)\n=> 2\n"


def test_a_time_to_live_of_a_cell(filled: Shell) -> None:
    filled.answer(
        "put 't', 'x', 'f:q', 'v', {TTL => 1000000}; put 't', 'x', 'f:r', 'v', 5, {TTL => 1}"
    )
    assert "f:r" not in filled.answer("get 't', 'x'")


def test_a_table_in_a_variable_has_methods(filled: Shell) -> None:
    text = "t = get_table 't'\nt.put 'c', 'f:q', 'three', 9\nt.get('c', 'f:q')\nt.count\nt.name"
    shown = filled.answer(text)
    assert "value=three" in shown
    assert shown.endswith('3 row(s)\n=> 3\n=> "t"\n')
    assert "Deletes one version" in filled.answer("t.help 'delete'")


def test_a_truncated_table_is_in_service_without_rows(filled: Shell) -> None:
    shown = filled.answer("disable 't'; truncate 't'; is_enabled 't'; count 't'")
    assert "Disabling" not in shown
    assert shown.endswith("true\n=> true\n0 row(s)\n=> 0\n")
    assert filled.store.describe_table("t").family("g") is not None


def test_alter_async_prints_nothing(filled: Shell) -> None:
    assert filled.answer("alter_async 't', NAME => 'g', VERSIONS => 9") == ""
    family = filled.store.describe_table("t").family("g")
    assert family is not None
    assert family.versions == 9


def test_tables_are_listed_by_their_state(filled: Shell) -> None:
    filled.answer("create 'u', 'f'; disable 'u'")
    assert filled.answer("list_enabled_tables") == 'TABLE\nt\n1 row(s)\n=> ["t"]\n'
    assert filled.answer("list_disabled_tables") == 'TABLE\nu\n1 row(s)\n=> ["u"]\n'


@pytest.mark.timeout(60)
def test_a_hostile_regular_expression_ends_soon(filled: Shell) -> None:
    name = "a" * 60
    filled.answer(f"create '{name}', 'f'")
    assert filled.answer("list '(a+)+b'").startswith("TABLE\n0 row(s)")
    assert f'["{name}"]' in filled.answer("list '(?i)(A+)+'")


def test_many_tables_are_changed_after_a_confirmation(filled: Shell) -> None:
    assert "table:t, error:table 't' is enabled" in filled.answer("drop_all 't'\ny")
    assert filled.answer("disable_all 't'\nn\nis_enabled 't'").endswith("=> true\n")
    assert filled.answer("disable_all 'x.*'") == "No tables matched the regex x.*\n"
    filled.answer("disable_all 't'\ny\nenable_all 't'\nyes\ndisable 't'\ndrop_all 't'\nY")
    assert filled.store.tables() == []


def test_split_keys_come_from_a_file(
    filled: Shell, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("splits") / "splits.txt"
    path.write_text("com.\n\\x00\\xFF\n")
    filled.answer(f"create 'u', 'f', SPLITS_FILE => '{path}'")
    assert [region.start for region in filled.store.admin.regions("u")] == [
        b"",
        b"\x00\xff",
        b"com.",
    ]


def test_regions_of_an_embedded_store(filled: Shell) -> None:
    shown = filled.answer("list_regions 't', 'emb', ['REGION_NAME', 'start_key', 'LOCALITY']")
    assert shown == (
        "  REGION_NAME |  START_KEY |   LOCALITY |\n"
        " ------------ | ---------- | ---------- |\n"
        "          t,0 |            |        1.0 |\n"
        " 1 rows\n"
    )
    assert "STARTKEY => ''" in filled.answer("locate_region 't', 'a'")
    assert filled.answer("regioninfo 't,0'").startswith("{ENCODED => t,0, NAME => 't,0'")


def test_upkeep_of_an_embedded_store(filled: Shell) -> None:
    filled.answer("flush 't'; flush 't,0'; flush 'embedded'; compact 't'; major_compact 't', 'f'")
    filled.answer("flush 't', 'f'; flush 't,0', 'g'")
    assert filled.answer("trace; trace 'stop'") == "=> false\n=> false\n"
    assert "Use 'unassign' command instead." in filled.answer("close_region 't,0'")
    filled.answer("compact 't,0', 'g'; compact_rs 'embedded'; compact_rs 'embedded', true")
    assert filled.answer("compaction_state 't'") == 'NONE\n=> "NONE"\n'
    assert filled.answer("balancer_enabled") == "false\n=> false\n"
    assert filled.answer("list_liveservers") == "SERVERNAME\nembedded\n1 row(s)\n"
    assert filled.answer("list_deadservers; rit") == "SERVERNAME\n0 row(s)\n0 row(s)\n"
    assert filled.answer("list_unknownservers") == "SERVERNAME\n0 row(s)\n"


def test_the_store_is_described(reader: Shell) -> None:
    assert reader.answer("status") == (
        "1 active master, 0 backup masters, 1 servers, 0 dead, 1.0000 average load\n"
    )
    assert "numberOfOnlineRegions=1" in reader.answer("status 'simple'")
    assert '"t,0"' in reader.answer("status 'detailed'")
    assert reader.answer("version").startswith("WebTable ")
    assert "(auth:SIMPLE)" in reader.answer("whoami")
    assert reader.answer("show_filters").splitlines()[:3] == [
        "DependentColumnFilter",
        "KeyOnlyFilter",
        "ColumnCountGetFilter",
    ]
