"""The graph in memory: properties as JSON text, neighbours by node."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightrag.contracts.evidence import ObjectKind, relation_key
from lightrag.contracts.graph import NodePair
from lightrag.exceptions import SchemaVersionError
from lightrag.kg.files.graphml import (
    difference,
    digest,
    edge_attributes,
    graphml_content,
    node_attributes,
    read_graphml,
    restored,
)
from lightrag.kg.files.json_file import encode, line_pieces, read_lines
from lightrag.kg.files.table import Export, NewFile, Operation, SourceNames, Table, Undo
from lightrag.kg.files.xml_text import can_be_id

if TYPE_CHECKING:
    import networkx as nx

FORMAT = 1


def sorted_pair(first: str, second: str) -> NodePair:
    """Return the ends of an edge in the order in which it is stored."""
    return (first, second) if first <= second else (second, first)


class GraphTable(Table):
    """``graph_….graphml`` for the peer, and ``lightrag_graph_….jsonl`` with what GraphML cannot hold.

    Operations: ``["nodes", {id: text or null}]``, ``["edges", [[first, second, text or null]]]`` with sorted ends,
    ``["clear"]``. ``null`` deletes; a node is deleted after its edges.

    Attributes:
        nodes: JSON text of the properties, by id.
        edges: JSON text of the properties, by sorted ends.
        neighbours: Ids of the neighbours, by id.
        foreign_nodes: Nodes that somebody else wrote since our own file was.
        foreign_edges: Edges likewise.
        gone_nodes: Nodes that somebody else deleted.
        gone_edges: Edges likewise.
    """

    def __init__(self, name: str, folder: Path) -> None:
        """Start empty."""
        super().__init__(name, folder)
        self.nodes: dict[str, str] = {}
        self.edges: dict[NodePair, str] = {}
        self.neighbours: dict[str, dict[str, None]] = {}
        self.foreign_nodes: dict[str, None] = {}
        self.foreign_edges: dict[NodePair, None] = {}
        self.gone_nodes: dict[str, None] = {}
        self.gone_edges: dict[NodePair, None] = {}

    @property
    def path(self) -> Path:
        """The GraphML file."""
        return self.folder / f"graph_{self.namespace}.graphml"

    @property
    def own_path(self) -> Path:
        """Our own file beside it."""
        return self.folder / f"lightrag_graph_{self.namespace}.jsonl"

    def files_on_disk(self) -> Sequence[Path]:
        """Return both files."""
        return (self.path, self.own_path)

    # --- reading the files -------------------------------------------------------------------------------------

    def load(self) -> None:
        """Read both files and note what they disagree about."""
        graph = read_graphml(self.path)
        nodes = dict(graph.nodes.items()) if graph is not None else {}
        edges = {sorted_pair(*pair): attributes for *pair, attributes in graph.edges.data()} if graph else {}
        own_nodes, own_edges = self._own_lines()
        for node_id, attributes in nodes.items():
            self._add_node(node_id, self._merged(attributes, own_nodes.pop(node_id, None), self.foreign_nodes, node_id))
        for node_id, (seen, _, properties) in own_nodes.items():
            if seen is None:
                self._add_node(node_id, properties)
            else:
                self.gone_nodes[node_id] = None
        for pair, attributes in edges.items():
            self._add_edge(pair, self._merged(attributes, own_edges.pop(pair, None), self.foreign_edges, pair))
        for pair, (seen, _, properties) in own_edges.items():
            if seen is None and pair[0] in self.nodes and pair[1] in self.nodes:
                self._add_edge(pair, properties)
            else:
                self.gone_edges[pair] = None

    def _own_lines(self) -> tuple[dict[str, Any], dict[NodePair, Any]]:
        lines = read_lines(self.own_path)
        header = next(lines, None)
        nodes: dict[str, Any] = {}
        edges: dict[NodePair, Any] = {}
        if header is None:
            return nodes, edges
        if not isinstance(header, dict) or not isinstance(header.get("format"), int):
            raise self.refuse(self.own_path, "its first line does not say what it is")
        if header["format"] > FORMAT:
            raise SchemaVersionError(f"{str(self.own_path)!r} was written by a newer version of LightRAG; use that one")
        for line in lines:
            match line:
                case ["node", str(node_id), *rest] if len(rest) == 3:
                    nodes[node_id] = rest
                case ["edge", str(first), str(second), *rest] if len(rest) == 3:
                    edges[first, second] = rest
                case _:
                    raise self.refuse(self.own_path, f"{str(line)[:80]} is neither node nor edge")
        return nodes, edges

    @staticmethod
    def _merged(attributes: dict[str, Any], own: Any, foreign: dict[Any, None], key: Any) -> dict[str, Any]:
        if own is not None and own[0] == digest(attributes):
            return restored(attributes, own[1], own[2])
        foreign[key] = None
        return attributes

    def _add_node(self, node_id: str, properties: Mapping[str, Any]) -> None:
        self.nodes[node_id] = encode(properties)
        self.neighbours.setdefault(node_id, {})

    def _add_edge(self, pair: NodePair, properties: Mapping[str, Any]) -> None:
        self.edges[pair] = encode(properties)
        self.neighbours[pair[0]][pair[1]] = None
        self.neighbours[pair[1]][pair[0]] = None

    # --- changing ----------------------------------------------------------------------------------------------

    def apply(self, operation: Operation) -> Undo:
        """Put or delete nodes or edges, or clear."""
        match operation:
            case ["nodes", dict(nodes)]:
                return self._replace_nodes(nodes)
            case ["edges", list(edges)]:
                return self._replace_edges({(first, second): text for first, second, text in edges})
            case ["clear"]:
                undo_edges = self._replace_edges(dict.fromkeys(self.edges))
                undo_nodes = self._replace_nodes(dict.fromkeys(self.nodes))

                def undo() -> None:
                    undo_nodes()
                    undo_edges()

                return undo
        raise ValueError(f"{operation[:1]!r} is no operation of {self.name!r}")

    def clear_operation(self) -> Operation:
        """Return the operation that deletes everything."""
        return ["clear"]

    def _replace_nodes(self, nodes: Mapping[str, str | None]) -> Undo:
        before = {node_id: self.nodes.get(node_id) for node_id in nodes}
        for node_id, text in nodes.items():
            self.foreign_nodes.pop(node_id, None)
            self.gone_nodes.pop(node_id, None)
            if text is not None:
                self.nodes[node_id] = text
                self.neighbours.setdefault(node_id, {})
            else:
                # Replayed over newer files, the node can have edges that the journal adds only later.
                others = self.neighbours.get(node_id, ())
                self._replace_edges({sorted_pair(node_id, other): None for other in others})
                self.nodes.pop(node_id, None)
                self.neighbours.pop(node_id, None)

        def undo() -> None:
            self._replace_nodes(before)

        return undo

    def _replace_edges(self, edges: Mapping[NodePair, str | None]) -> Undo:
        before = {pair: self.edges.get(pair) for pair in edges}
        for pair, text in edges.items():
            first, second = pair
            self.foreign_edges.pop(pair, None)
            self.gone_edges.pop(pair, None)
            if text is not None:
                self.edges[pair] = text
                self.neighbours.setdefault(first, {})[second] = None
                self.neighbours.setdefault(second, {})[first] = None
            elif pair in self.edges:
                del self.edges[pair]
                del self.neighbours[first][second]
                self.neighbours[second].pop(first, None)

        def undo() -> None:
            self._replace_edges(before)

        return undo

    # --- reading -----------------------------------------------------------------------------------------------

    def node(self, node_id: str) -> dict[str, Any]:
        """Return the properties of a node that exists."""
        properties: dict[str, Any] = json.loads(self.nodes[node_id])
        return properties

    def edge(self, pair: NodePair) -> dict[str, Any]:
        """Return the properties of an edge that exists; its ends are sorted."""
        properties: dict[str, Any] = json.loads(self.edges[pair])
        return properties

    def degree(self, node_id: str) -> int:
        """Return the number of edges at a node; 0 when it does not exist."""
        return len(self.neighbours.get(node_id, ()))

    def best_connected(self, node_ids: Iterable[str]) -> list[str]:
        """Return nodes by degree, highest first, then by id."""
        return sorted(node_ids, key=lambda node_id: (-self.degree(node_id), node_id))

    # --- writing the files -------------------------------------------------------------------------------------

    def new_files(self, export: Export) -> Iterator[NewFile]:
        """Return both files."""
        import networkx as nx

        graph: nx.Graph[str] = nx.Graph()
        own_lines: list[Any] = [{"format": FORMAT}]
        for node_id in self.nodes:
            self._export_node(export.sources, graph, own_lines, node_id)
        for pair in self.edges:
            self._export_edge(export.sources, graph, own_lines, pair)
        yield NewFile(self.own_path, line_pieces(own_lines))
        yield NewFile(self.path, graphml_content(graph))

    def _export_node(self, sources: SourceNames, graph: nx.Graph[str], own_lines: list[Any], node_id: str) -> None:
        properties = self.node(node_id)
        if not can_be_id(node_id):
            own_lines.append(["node", node_id, None, [], properties])
            return
        graph.add_node(node_id)
        if node_id in self.foreign_nodes:
            graph.nodes[node_id].update(properties)
            return
        named = sources.of(ObjectKind.ENTITY, node_id, properties)
        attributes = node_attributes(node_id, properties, named)
        graph.nodes[node_id].update(attributes)
        own_lines.append(["node", node_id, digest(attributes), *difference(attributes, properties)])

    def _export_edge(self, sources: SourceNames, graph: nx.Graph[str], own_lines: list[Any], pair: NodePair) -> None:
        properties = self.edge(pair)
        if not (can_be_id(pair[0]) and can_be_id(pair[1])):
            own_lines.append(["edge", *pair, None, [], properties])
            return
        graph.add_edge(*pair)
        if pair in self.foreign_edges:
            graph.edges[pair].update(properties)
            return
        named = sources.of(ObjectKind.RELATION, relation_key(*pair), properties)
        attributes = edge_attributes(properties, named)
        graph.edges[pair].update(attributes)
        own_lines.append(["edge", *pair, digest(attributes), *difference(attributes, properties)])
