"""A graph: each node is a row, each kind of edge a family, each edge a cell.

The qualifier numbers a node's edges of that kind, the value is the key of the node it leads to.
Naming the column after the target instead keeps an edge from being stored twice.

Use it     where a graph is read from given nodes: whom do I follow, what does this page link to.
Not        for queries about the whole graph, nor for the edges to a node: these read every node,
           unless each edge is stored at both of its ends.
Cheap      the edges of one kind from a node: one get. A step from many nodes: one call.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # to run as a file, without -m

from examples.patterns.stage import answer, play
from webtable import Family, Table, TableSchema
from webtable.filters import ValueFilter

SCHEMA = TableSchema(name="pattern_graph", families=(Family(name="R"), Family(name="S")))


def write(nodes: Table) -> None:
    """Stores two nodes with four edges of two kinds."""
    nodes.put(b"A", {b"R:1": b"B", b"R:2": b"D", b"S:1": b"C"}, timestamp=1)
    nodes.put(b"B", {b"R:1": b"D"}, timestamp=1)


def ask(nodes: Table) -> None:
    """Reads the neighbours of a node, then their neighbours, then the edges to a node."""
    row = nodes.get(b"A", [b"R"])
    assert row is not None
    answer("Where do edges R of A lead? One get:", sorted(row.values().values()))
    answer("Steps from A to each node:", _distances(nodes, b"A"))

    to_d = ValueFilter("=", b"D")
    found = [row.key for row in nodes.scan(filter=to_d)]
    answer("Which nodes lead to D? A read of every node:", found)


def _distances(nodes: Table, start: bytes) -> dict[bytes, int]:
    """Walks along edges of any kind, all nodes at one distance in one call."""
    distances = {start: 0}
    nearest = [start]
    while nearest:
        rows = [row for row in nodes.get_many(nearest) if row is not None]
        targets = {target for row in rows for target in row.values().values()}
        steps = distances[nearest[0]] + 1
        nearest = sorted(targets - distances.keys())
        distances.update(dict.fromkeys(nearest, steps))
    return distances


if __name__ == "__main__":
    play(SCHEMA, write, ask, __doc__)
