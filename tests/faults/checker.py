"""The judge of a history: every way in which it breaks what the client promises.

Nothing acknowledged is lost, nothing shows that was never written, a scan misses and repeats no row
that stayed, rows are whole, increments and appends happen once, a conditional write is never
wrongly reported. An empty list of findings is a pass; everything here is exact, nothing sampled.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tests.faults.history import History, Joined, Outcome, Read, ScanSeen, Step, Tally, Write

__all__ = ["ChainEnd", "Final", "check", "check_chain", "check_counter", "check_row"]
__all__ += ["check_scan", "check_text"]


class ChainEnd(NamedTuple):
    """What a chain's row holds at the end.

    Attributes:
        token: the last one; empty where no step was made.
        before: each step that was made, and the token that it followed.
        text: the steps in order, as appends in the same atomic write left them; None where the
            chain has none.
        counted: how many there were, as an increment in the same atomic write counted them.
    """

    token: bytes
    before: Mapping[bytes, bytes]
    text: bytes | None = None
    counted: int | None = None


class Final(NamedTuple):
    """Counters, texts and chains as they are when all is quiet; rows are read like any other."""

    counters: Mapping[bytes, int]
    texts: Mapping[bytes, bytes]
    chains: Mapping[bytes, ChainEnd]


def check(history: History, final: Final) -> list[str]:
    """Returns all that is wrong with a history."""
    found = list(history.complaints)
    for row, reads in history.reads.items():
        found += (f"row {row!r}: {text}" for text in check_row(history.writes.get(row, []), reads))
    for scan in history.scans:
        found += check_scan(scan, history.stable)
    for row, tallies in history.tallies.items():
        value = final.counters.get(row, 0)
        found += (f"counter {row!r}: {text}" for text in check_counter(tallies, value))
    for row, joined in history.joined.items():
        value_text = final.texts.get(row, b"")
        found += (f"text {row!r}: {text}" for text in check_text(joined, value_text))
    for row, steps in history.steps.items():
        end = final.chains.get(row, ChainEnd(b"", {}))
        found += (f"chain {row!r}: {text}" for text in check_chain(steps, end))
    return found


def check_row(writes: Sequence[Write], reads: Sequence[Read]) -> Iterator[str]:
    """Yields the reads that saw what could not be there.

    A read may see what the last write left that was acknowledged before it began, or any later
    write that had begun when it ended. What has been seen once does not go back to older.
    """
    numbers = {write.number: at for at, write in enumerate(writes) if write.number is not None}
    ends = [write.ended for write in writes]
    starts = [write.began for write in writes]
    known = _newest_done(writes)
    seen: list[tuple[float, int]] = []  # when reads ended, the newest write seen by then
    for read in sorted(reads, key=lambda read: read.ended):
        ceiling = bisect_right(starts, read.ended) - 1
        before = bisect_right(ends, read.began) - 1
        floor = known[before] if before >= 0 else -1
        at = bisect_left(seen, (read.began, -1)) - 1
        if at >= 0:
            floor = max(floor, seen[at][1])
        allowed = [
            number
            for number in range(max(floor, 0), ceiling + 1)
            if writes[number].outcome is not Outcome.FAILED
        ]
        if read.number is None:
            hits = [number for number in allowed if writes[number].number is None]
            place = -1 if floor < 0 else (hits[0] if hits else None)
        else:
            place = numbers.get(read.number)
            if place not in allowed:
                place = None
        if place is None:
            least = writes[floor] if floor >= 0 else None
            yield f"{read} saw neither {least} nor one of the {len(allowed)} that it could see"
        elif place > (seen[-1][1] if seen else -1):
            seen.append((read.ended, place))


def _newest_done(writes: Sequence[Write]) -> list[int]:
    """Returns for each write the newest one up to it that was acknowledged, -1 for none."""
    newest, found = -1, []
    for at, write in enumerate(writes):
        if write.outcome is Outcome.DONE:
            newest = at
        found.append(newest)
    return found


def check_scan(scan: ScanSeen, stable: frozenset[bytes]) -> Iterator[str]:
    """Yields what a scan missed, repeated, put in the wrong order or should not have shown."""
    keys = scan.keys
    shown = f"scan of [{scan.start!r}, {scan.stop!r}) limit {scan.limit} reverse {scan.reverse}"
    repeated = [key for key, times in Counter(keys).items() if times > 1]
    if repeated:
        yield f"{shown} repeated {len(repeated)} rows, the first {repeated[0]!r}"
    if scan.is_ordered and list(keys) != sorted(keys, reverse=scan.reverse):
        yield f"{shown} is out of order"
    strays = [key for key in keys if key < scan.start or (scan.stop != b"" and key >= scan.stop)]
    if strays:
        yield f"{shown} showed {strays[0]!r}"
    if scan.limit is not None and len(keys) > scan.limit:
        yield f"{shown} showed {len(keys)} rows"
    wanted = {key for key in stable if key >= scan.start and (not scan.stop or key < scan.stop)}
    if scan.limit is not None and len(keys) >= scan.limit:
        if not scan.is_ordered or not keys:
            return
        last = keys[-1]  # it had no reason to go further
        wanted = {key for key in wanted if (key >= last if scan.reverse else key <= last)}
    missing = wanted - set(keys)
    if missing:
        yield f"{shown} missed {len(missing)} of {len(wanted)} rows, the first {min(missing)!r}"


def check_counter(tallies: Sequence[Tally], final: int) -> Iterator[str]:
    """Yields what is wrong with a counter that was only ever moved by one."""
    done = [tally for tally in tallies if tally.outcome is Outcome.DONE]
    unknown = sum(tally.outcome is Outcome.UNKNOWN for tally in tallies)
    if not len(done) <= final <= len(done) + unknown:
        yield f"is {final} after {len(done)} increments and {unknown} that are not known"
    twice = [value for value, times in Counter(t.value for t in done).items() if times > 1]
    if twice:
        yield f"gave the answers {sorted(map(str, twice))} more than once"
    by_end = sorted(done, key=lambda tally: tally.ended)
    ends = [tally.ended for tally in by_end]
    largest, most = [], 0
    for tally in by_end:
        most = max(most, tally.value or 0)
        largest.append(most)
    for tally in done:
        before = bisect_left(ends, tally.began)
        least = max(before, largest[before - 1] if before else 0) + 1
        if tally.value is None or not least <= tally.value <= final:
            yield f"answered {tally.value} to {tally}, not {least} to {final}"


def check_text(joined: Sequence[Joined], final: bytes) -> Iterator[str]:
    """Yields what is wrong with a text to which tokens, each ending in a semicolon, were added."""
    found = [token + b";" for token in final.split(b";")[:-1]]
    places = {token: at for at, token in enumerate(found)}
    yield from _check_once(Counter(found), {each.token: each.outcome for each in joined})
    if b"".join(found) != final:
        yield f"ends in {final[-40:]!r}"
    done = [each for each in joined if each.outcome is Outcome.DONE and each.token in places]
    for each in done:
        whole = b"".join(found[: places[each.token] + 1])
        if each.text != whole:
            yield f"answered {str(each.text)[-60:]} to {each.token!r}, which made {whole[-60:]!r}"
    yield from _check_order([(each.began, each.ended, places[each.token]) for each in done])


def check_chain(steps: Sequence[Step], end: ChainEnd) -> Iterator[str]:
    """Yields what was wrongly reported about the steps of a chain."""
    outcomes = {step.token: step.outcome for step in steps}
    yield from _check_once(Counter(end.before.keys()), outcomes)
    expected = {step.token: step.expected for step in steps}
    after: dict[bytes, bytes] = {}
    for token, before in end.before.items():
        if before in after:
            yield f"forks after {before!r}: {after[before]!r} and {token!r}"
        if expected.get(token, before) != before:
            yield f"has {token!r} after {before!r}, not after {expected[token]!r}"
        after[before] = token
    line: list[bytes] = []
    token = b""
    while token in after and len(line) <= len(after):
        token = after[token]
        line.append(token)
    if len(line) != len(end.before) or end.token != (line[-1] if line else b""):
        yield f"ends with {end.token!r} and has {len(end.before)} steps, {len(line)} in line"
    if end.text is not None and end.text != b"".join(line):
        yield f"was written down as {end.text[-200:]!r}, and is {b''.join(line)[-200:]!r}"
    if end.counted is not None and end.counted != len(line):
        yield f"has {len(line)} steps and counted {end.counted}"
    places = {token: at for at, token in enumerate(line)}
    done = [step for step in steps if step.outcome is Outcome.DONE and step.token in places]
    yield from _check_order([(step.began, step.ended, places[step.token]) for step in done])
    began = {step.token: step.began for step in steps}
    for step in steps:
        if step.outcome is Outcome.REFUSED:
            # It had seen what it expected; that stays until another writer begins to replace it.
            successor = after.get(step.expected)
            if successor is None or began.get(successor, 0.0) >= step.ended:
                yield f"refused {step} while {step.expected!r} was still there"


def _check_once(found: Counter[bytes], outcomes: Mapping[bytes, Outcome]) -> Iterator[str]:
    for token, outcome in outcomes.items():
        times = found[token]
        if outcome is Outcome.DONE and times != 1:
            yield f"{token!r} was {outcome.value} and is there {times} times"
        elif outcome is Outcome.UNKNOWN and times > 1:
            yield f"{token!r} is there {times} times"
        elif outcome in (Outcome.FAILED, Outcome.REFUSED) and times:
            yield f"{token!r} is there although: {outcome.value}"
    for token in found.keys() - outcomes.keys():
        yield f"{token!r} was never written"


def _check_order(spans: Sequence[tuple[float, float, int]]) -> Iterator[str]:
    """Yields when something that began after another had ended stands before it."""
    by_end = sorted(spans, key=lambda span: span[1])
    ends = [span[1] for span in by_end]
    largest, most = [], -1
    for span in by_end:
        most = max(most, span[2])
        largest.append(most)
    for began, _, place in spans:
        before = bisect_left(ends, began)
        if before and largest[before - 1] >= place:
            yield f"the {place}th was written after the {largest[before - 1]}th had been"
