"""The graph in SQLite: nodes by the number of their name, edges by the number of their pair of names."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightrag.contracts.graph import BaseGraphStorage, KnowledgeGraph, NodePair, Properties
from lightrag.kg.labels import best_labels
from lightrag.kg.sqlite import graph_view, graph_writes, schema
from lightrag.kg.sqlite.database import snapshot
from lightrag.kg.sqlite.dictionary import JOIN_PAIRS, pair_code, text_ids, texts_of
from lightrag.kg.sqlite.filter_columns import COLUMN_LIST, joined, split
from lightrag.kg.sqlite.graph_writes import EdgeRow, GraphTables, NodeRow
from lightrag.kg.sqlite.store import SQLiteStore
from lightrag.kg.sqlite.texts import int_list, json_list
from lightrag.kg.texts import check_ids, decode_object, encode_json

_COLUMNS = COLUMN_LIST.split(", ")
_NODE_COLUMNS = ", ".join(f"n.{name}" for name in ("properties", *_COLUMNS))
_EDGE_COLUMNS = ", ".join(f"e.{name}" for name in ("properties", *_COLUMNS))

# About how many edges a node has, to tell long reads from short ones.
_EDGES_PER_NODE = 16


@dataclass(kw_only=True, eq=False)
class SQLiteGraphStorage(SQLiteStore, BaseGraphStorage):
    """Nodes and undirected edges."""

    @property
    def _graph(self) -> GraphTables:
        return GraphTables(schema.table_name("nodes", self.namespace), schema.table_name("edges", self.namespace))

    def _tables(self) -> schema.Statements:
        return schema.graph_tables(self._graph.nodes, self._graph.edges)

    def _delete_all(self, connection: sqlite3.Connection) -> None:
        connection.execute(f"DELETE FROM {self._graph.nodes}")
        connection.execute(f"DELETE FROM {self._graph.edges}")

    async def _rows(self, statement: str, values: tuple[Any, ...] = (), *, rows: int = 1) -> list[tuple[Any, ...]]:
        return await self.database.read(lambda c: c.execute(statement, values).fetchall(), rows=rows)

    # --- nodes -------------------------------------------------------------------------------------------------

    def _from_ids(self) -> str:
        """Join a JSON array of node ids with the nodes that exist."""
        return (
            "FROM json_each(?) AS j CROSS JOIN texts AS t ON t.text = j.value "
            f"CROSS JOIN {self._graph.nodes} AS n ON n.id = t.id"
        )

    async def has_node(self, node_id: str) -> bool:
        """Tell whether the node exists."""
        return bool(await self.has_nodes_batch([node_id]))

    async def has_nodes_batch(self, node_ids: Sequence[str]) -> set[str]:
        """Return those of ``node_ids`` that exist."""
        if not node_ids:
            return set()
        rows = await self._rows(f"SELECT t.text {self._from_ids()}", (json_list(node_ids),), rows=len(node_ids))
        return {text for (text,) in rows}

    async def node_degree(self, node_id: str) -> int:
        """Return the number of edges at the node; 0 when it does not exist."""
        return (await self.node_degrees_batch([node_id]))[node_id]

    async def node_degrees_batch(self, node_ids: Sequence[str]) -> dict[str, int]:
        """Return the degree of every given id."""
        degrees = dict.fromkeys(node_ids, 0)
        if node_ids:
            statement = f"SELECT t.text, n.degree {self._from_ids()}"
            degrees.update(await self._rows(statement, (json_list(node_ids),), rows=len(node_ids)))
        return degrees

    async def get_node(self, node_id: str) -> Properties | None:
        """Return a node's properties, or ``None``."""
        return (await self.get_nodes_batch([node_id])).get(node_id)

    async def get_nodes_batch(self, node_ids: Sequence[str]) -> dict[str, Properties]:
        """Return the properties of those nodes that exist, by id."""
        if not node_ids:
            return {}
        statement = f"SELECT t.text, {_NODE_COLUMNS} {self._from_ids()}"
        rows = await self._rows(statement, (json_list(node_ids),), rows=len(node_ids))
        return {text: joined(decode_object(properties), columns) for text, properties, *columns in rows}

    async def get_all_labels(self) -> list[str]:
        """Return all node ids, sorted."""
        statement = f"SELECT t.text FROM {self._graph.nodes} AS n JOIN texts AS t ON t.id = n.id ORDER BY t.text"
        return [text for (text,) in await self._rows(statement, rows=await self.count_nodes())]

    async def get_all_nodes(self) -> list[Properties]:
        """Return the properties of all nodes, each with ``id``, in the order in which they were first seen."""
        statement = (
            f"SELECT t.text, {_NODE_COLUMNS} FROM {self._graph.nodes} AS n CROSS JOIN texts AS t ON t.id = n.id "
            "ORDER BY n.id"
        )
        rows = await self._rows(statement, rows=await self.count_nodes())
        return [{**joined(decode_object(properties), columns), "id": text} for text, properties, *columns in rows]

    async def count_nodes(self) -> int:
        """Return the number of nodes."""
        return int((await self._rows(f"SELECT count(*) FROM {self._graph.nodes}"))[0][0])

    # --- edges -------------------------------------------------------------------------------------------------

    async def has_edge(self, source_node_id: str, target_node_id: str) -> bool:
        """Tell whether the edge exists, in either direction."""
        return await self.get_edge(source_node_id, target_node_id) is not None

    async def get_edge(self, source_node_id: str, target_node_id: str) -> Properties | None:
        """Return an edge's properties, or ``None``."""
        found = await self.get_edges_batch([{"src": source_node_id, "tgt": target_node_id}])
        return found.get((source_node_id, target_node_id))

    async def get_edges_batch(self, pairs: Sequence[Mapping[str, str]]) -> dict[NodePair, Properties]:
        """Return the properties of those edges ``{"src": ..., "tgt": ...}`` that exist, by ``(src, tgt)`` as asked."""
        asked = list(dict.fromkeys((pair["src"], pair["tgt"]) for pair in pairs))
        if not asked:
            return {}
        return await self.database.read(lambda connection: self._edges(connection, asked), rows=len(asked))

    def _edges(self, connection: sqlite3.Connection, asked: Sequence[NodePair]) -> dict[NodePair, Properties]:
        with snapshot(connection):
            ids = text_ids(connection, list(dict.fromkeys(end for pair in asked for end in pair)))
            codes = {pair: pair_code(ids[pair[0]], ids[pair[1]]) for pair in asked if pair[0] in ids and pair[1] in ids}
            statement = (
                f"SELECT j.value, {_EDGE_COLUMNS} FROM {JOIN_PAIRS} CROSS JOIN {self._graph.edges} AS e ON e.id = p.id"
            )
            rows = connection.execute(statement, (int_list(dict.fromkeys(codes.values())),)).fetchall()
        stored = {code: (properties, columns) for code, properties, *columns in rows}
        # Decoded once for each pair asked, so that no two of them share an object.
        return {
            pair: joined(decode_object(stored[code][0]), stored[code][1])
            for pair, code in codes.items()
            if code in stored
        }

    async def get_node_edges(self, source_node_id: str) -> list[NodePair] | None:
        """Return the edges at a node as ``(node, neighbour)``; ``[]`` when isolated, ``None`` when it is unknown."""
        edges = (await self.get_nodes_edges_batch([source_node_id]))[source_node_id]
        return edges if edges or await self.has_node(source_node_id) else None

    async def get_nodes_edges_batch(self, node_ids: Sequence[str]) -> dict[str, list[NodePair]]:
        """Return the edges of every given node as ``(node, neighbour)``, in the order in which they were first seen."""
        found: dict[str, list[NodePair]] = {node_id: [] for node_id in node_ids}
        if not node_ids:
            return found
        ids = list(found)
        rows = await self.database.read(
            lambda connection: self._neighbours(connection, ids), rows=_EDGES_PER_NODE * len(ids)
        )
        for position, neighbour in rows:
            node_id = ids[position]
            found[node_id].append((node_id, neighbour))
        return found

    def _neighbours(self, connection: sqlite3.Connection, ids: Sequence[str]) -> list[tuple[int, str]]:
        edges = f"CROSS JOIN {self._graph.edges} AS e ON e.id = p.id"
        start = "FROM json_each(?1) AS j CROSS JOIN texts AS t ON t.text = j.value CROSS JOIN pairs AS p"
        statement = (
            f"SELECT j.key, p.high, p.id {start} ON p.low = t.id {edges} UNION ALL "
            f"SELECT j.key, p.low, p.id {start} ON p.high = t.id AND p.low <> t.id {edges}"
        )
        with snapshot(connection):
            rows = connection.execute(statement, (json_list(ids),)).fetchall()
            texts = texts_of(connection, (other for _, other, _ in rows))
        rows.sort(key=lambda row: row[2])
        return [(position, texts[other]) for position, other, _ in rows]

    async def get_all_edges(self) -> list[Properties]:
        """Return the properties of all edges, each with ``source`` and ``target``, sorted as texts."""
        statement = (
            f"SELECT a.text, b.text, {_EDGE_COLUMNS} FROM {self._graph.edges} AS e "
            "CROSS JOIN pairs AS p ON p.id = e.id CROSS JOIN texts AS a ON a.id = p.low "
            "CROSS JOIN texts AS b ON b.id = p.high ORDER BY e.id"
        )
        rows = await self._rows(statement, rows=await self.count_edges())
        return [
            {**joined(decode_object(properties), columns), "source": min(first, second), "target": max(first, second)}
            for first, second, properties, *columns in rows
        ]

    async def count_edges(self) -> int:
        """Return the number of edges."""
        return int((await self._rows(f"SELECT count(*) FROM {self._graph.edges}"))[0][0])

    # --- writing -----------------------------------------------------------------------------------------------

    async def upsert_node(self, node_id: str, node_data: Properties) -> None:
        """Insert or replace a node."""
        await self.upsert_nodes_batch([(node_id, node_data)])

    async def upsert_nodes_batch(self, nodes: Iterable[tuple[str, Properties]]) -> None:
        """Insert or replace nodes; one that does not change is not written.

        Raises:
            InputError: An id or property cannot be stored.
        """
        rows = [NodeRow(node_id, *_columns(node_id, properties)) for node_id, properties in nodes]
        if not rows:
            return
        check_ids(row.node_id for row in rows)
        tables = self._graph
        await self.database.write(lambda connection: graph_writes.upsert_nodes(connection, tables, rows))

    async def upsert_edge(self, source_node_id: str, target_node_id: str, edge_data: Properties) -> None:
        """Insert or replace an edge. Missing ends are created as nodes without properties."""
        await self.upsert_edges_batch([(source_node_id, target_node_id, edge_data)])

    async def upsert_edges_batch(self, edges: Iterable[tuple[str, str, Properties]]) -> None:
        """Insert or replace edges; one that does not change is not written.

        Raises:
            InputError: An id or property cannot be stored.
        """
        rows = [
            EdgeRow(source, target, *_columns((source, target), properties)) for source, target, properties in edges
        ]
        if not rows:
            return
        check_ids(end for row in rows for end in row[:2])
        tables = self._graph
        await self.database.write(lambda connection: graph_writes.upsert_edges(connection, tables, rows))

    async def delete_node(self, node_id: str) -> None:
        """Delete a node and its edges; unknown ids are passed over."""
        await self.remove_nodes([node_id])

    async def remove_nodes(self, nodes: Sequence[str]) -> None:
        """Delete nodes and their edges."""
        if not nodes:
            return
        tables, gone = self._graph, list(nodes)
        await self.database.write(lambda connection: graph_writes.remove_nodes(connection, tables, gone))
        self.database.left_holes()

    async def remove_edges(self, edges: Sequence[NodePair]) -> None:
        """Delete edges; unknown ones are passed over."""
        if not edges:
            return
        tables, gone = self._graph, list(edges)
        await self.database.write(lambda connection: graph_writes.remove_edges(connection, tables, gone))
        self.database.left_holes()

    # --- looking around ----------------------------------------------------------------------------------------

    async def get_popular_labels(self, limit: int = 300) -> list[str]:
        """Return node ids by degree (highest first), then by id."""
        statement = (
            f"SELECT t.text FROM {self._graph.nodes} AS n CROSS JOIN texts AS t ON t.id = n.id "
            "ORDER BY n.degree DESC, t.text LIMIT ?"
        )
        rows = await self._rows(statement, (max(limit, 0),), rows=await self.count_nodes())
        return [text for (text,) in rows]

    async def search_labels(self, query: str, limit: int = 50) -> list[str]:
        """Return node ids that contain ``query`` in any case, best match first, then by id."""
        return best_labels(await self.get_all_labels(), query, limit)

    async def get_knowledge_graph(self, node_label: str, max_depth: int = 3, max_nodes: int = 1000) -> KnowledgeGraph:
        """Return the part of the graph within ``max_depth`` hops of a node, nearest and best connected first."""
        view = graph_view.GraphView(self._graph, max_depth, max_nodes)
        return await self.database.read(lambda connection: view.around(connection, node_label), rows=max_nodes + 1000)


def _columns(what: object, properties: Properties) -> tuple[tuple[Any, ...], str]:
    columns, rest = split(properties)
    return columns, encode_json(rest, what)
