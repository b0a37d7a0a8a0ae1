"""Views of the graph: the surroundings of a node, and labels that resemble a text."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field

from lightrag.contracts.graph import KnowledgeGraph, KnowledgeGraphEdge, KnowledgeGraphNode
from lightrag.kg.labels import ALL_NODES
from lightrag.kg.sqlite.database import snapshot
from lightrag.kg.sqlite.dictionary import text_ids
from lightrag.kg.sqlite.filter_columns import COLUMN_NAMES, joined
from lightrag.kg.sqlite.graph_writes import GraphTables
from lightrag.kg.sqlite.texts import int_list
from lightrag.kg.texts import decode_object


@dataclass(slots=True)
class GraphView:
    """Collects a part of the graph.

    Attributes:
        tables: The graph.
        max_depth: Hops from the first node.
        max_nodes: Nodes at the most.
        chosen: Numbers of the nodes taken, in order.
        truncated: Whether ``max_nodes`` left any out.
    """

    tables: GraphTables
    max_depth: int
    max_nodes: int
    chosen: dict[int, None] = field(default_factory=dict)
    truncated: bool = False

    def around(self, connection: sqlite3.Connection, node_label: str) -> KnowledgeGraph:
        """Return what lies around a node, or around everything for ``"*"``."""
        with snapshot(connection):
            if node_label == ALL_NODES:
                self._take(self._best_connected(connection))
            else:
                self._walk(connection, node_label)
            return self._graph(connection)

    def _best_connected(self, connection: sqlite3.Connection) -> list[int]:
        rows = connection.execute(
            f"SELECT n.id FROM {self.tables.nodes} AS n CROSS JOIN texts AS t ON t.id = n.id "
            "ORDER BY n.degree DESC, t.text LIMIT ?",
            (max(self.max_nodes, 0) + 1,),
        )
        return [number for (number,) in rows.fetchall()]

    def _walk(self, connection: sqlite3.Connection, node_label: str) -> None:
        """Take nodes level by level."""
        number = text_ids(connection, [node_label]).get(node_label)
        start = connection.execute(f"SELECT id FROM {self.tables.nodes} WHERE id = ?", (number,)).fetchall()
        level = [node for (node,) in start]
        self._take(level)
        for _ in range(self.max_depth):
            if not level or self.truncated:
                return
            level = self._next_level(connection, level)
            self._take(level)

    def _next_level(self, connection: sqlite3.Connection, level: Sequence[int]) -> list[int]:
        """Return the neighbours of a level that were not seen yet, best connected first."""
        edges = f"CROSS JOIN {self.tables.edges} AS e ON e.id = p.id"
        rows = connection.execute(
            f"""WITH neighbours (id) AS (
                SELECT p.high FROM json_each(?1) AS j CROSS JOIN pairs AS p ON p.low = j.value {edges}
                UNION SELECT p.low FROM json_each(?1) AS j CROSS JOIN pairs AS p ON p.high = j.value {edges})
            SELECT n.id FROM neighbours CROSS JOIN {self.tables.nodes} AS n ON n.id = neighbours.id
            CROSS JOIN texts AS t ON t.id = n.id ORDER BY n.degree DESC, t.text""",
            (int_list(level),),
        )
        return [number for (number,) in rows.fetchall() if number not in self.chosen]

    def _take(self, numbers: Sequence[int]) -> None:
        room = max(self.max_nodes - len(self.chosen), 0)
        self.truncated = self.truncated or len(numbers) > room
        self.chosen.update(dict.fromkeys(numbers[:room]))

    def _graph(self, connection: sqlite3.Connection) -> KnowledgeGraph:
        chosen = int_list(self.chosen)
        columns = ", ".join(f"n.{name}" for name in COLUMN_NAMES)
        nodes = connection.execute(
            f"SELECT n.id, t.text, n.properties, {columns} FROM json_each(?) AS j "
            f"CROSS JOIN {self.tables.nodes} AS n ON n.id = j.value CROSS JOIN texts AS t ON t.id = n.id "
            "ORDER BY j.key",
            (chosen,),
        ).fetchall()
        names = {number: name for number, name, *_ in nodes}
        columns = ", ".join(f"e.{name}" for name in COLUMN_NAMES)
        edges = connection.execute(
            f"SELECT p.low, p.high, e.properties, {columns} FROM json_each(?1) AS j "
            f"CROSS JOIN pairs AS p ON p.low = j.value CROSS JOIN {self.tables.edges} AS e ON e.id = p.id "
            "WHERE p.high IN (SELECT value FROM json_each(?1)) ORDER BY e.id",
            (chosen,),
        ).fetchall()
        graph = KnowledgeGraph(is_truncated=self.truncated)
        for _, name, properties, *values in nodes:
            graph.nodes.append(KnowledgeGraphNode(name, [name], joined(decode_object(properties), values)))
        for low, high, properties, *values in edges:
            source, target = sorted((names[low], names[high]))
            described = joined(decode_object(properties), values)
            graph.edges.append(KnowledgeGraphEdge(f"{source}-{target}", "DIRECTED", source, target, described))
        return graph
