"""GraphML as the peer reads and writes it, and the difference between that and what we store."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightrag.constants import UNKNOWN_ENTITY_TYPE
from lightrag.contracts.vector import FILTER_FIELD_DEFAULTS
from lightrag.exceptions import StorageError
from lightrag.kg.files.xml_text import as_text, can_be_name

if TYPE_CHECKING:
    import networkx

Attributes = dict[str, Any]

# Properties of ours that mean nothing to others; they stand in our own file.
_OWN = frozenset(
    {
        "evidence_count",
        "tokens",
        "entity_name",
        "type_votes",
        "corrected",
        "chosen_type",
        "graph_node_id",
        *FILTER_FIELD_DEFAULTS,
    }
)
_MAX_LONG = 2**63


def node_attributes(node_id: str, properties: Mapping[str, Any], sources: tuple[str, str]) -> Attributes:
    """Return the attributes of a node as the peer expects them.

    Args:
        node_id: Its id, which GraphML can hold.
        properties: As stored.
        sources: ``source_id`` and ``file_path``.
    """
    return {
        "entity_id": _text(properties, "entity_id", node_id),
        "entity_type": _text(properties, "entity_type", UNKNOWN_ENTITY_TYPE),
        "description": _text(properties, "description"),
        **_ends(properties, sources),
    }


def edge_attributes(properties: Mapping[str, Any], sources: tuple[str, str]) -> Attributes:
    """Return the attributes of an edge as the peer expects them; arguments as in :func:`node_attributes`."""
    weight = properties.get("weight")
    return {
        "weight": float(weight) if isinstance(weight, int | float) else 1.0,
        "description": _text(properties, "description"),
        "keywords": ",".join(sorted(_text(properties, "keywords").split(","))),
        **_ends(properties, sources),
    }


def _ends(properties: Mapping[str, Any], sources: tuple[str, str]) -> Attributes:
    """Return the attributes that nodes and edges have in common, and those that other tools or people added."""
    created_at = properties.get("created_at")
    common: Attributes = {
        "source_id": as_text(sources[0]),
        "file_path": as_text(sources[1]),
        "created_at": created_at if isinstance(created_at, int) and _is_scalar(created_at) else 0,
        "truncate": _text(properties, "truncate"),
    }
    known = {*common, "entity_id", "entity_type", "description", "weight", "keywords", *_OWN}
    further = {
        name: as_text(value) if isinstance(value, str) else value
        for name, value in properties.items()
        if name not in known and can_be_name(name) and _is_scalar(value)
    }
    return {**common, **further}


def _text(properties: Mapping[str, Any], name: str, default: str = "") -> str:
    value = properties.get(name)
    return as_text(value if isinstance(value, str) else default)


def _is_scalar(value: Any) -> bool:
    if isinstance(value, int) and not isinstance(value, bool):
        return -_MAX_LONG <= value < _MAX_LONG
    return isinstance(value, str | float | bool)


# --- the difference ------------------------------------------------------------------------------------------------


def digest(attributes: Mapping[str, Any]) -> int:
    """Return a number that changes when somebody changes what a node or edge says."""
    said = [attributes.get(name) for name in ("entity_type", "weight", "keywords", "description")]
    return zlib.crc32(json.dumps(said).encode())


def difference(attributes: Mapping[str, Any], properties: Mapping[str, Any]) -> tuple[list[str], Attributes]:
    """Return the attributes to be left out and the properties to be added to get from attributes to properties."""
    hidden = [name for name in attributes if name not in properties]
    added = {
        name: value
        for name, value in properties.items()
        if name not in attributes or attributes[name] != value or type(attributes[name]) is not type(value)
    }
    return hidden, added


def restored(attributes: Mapping[str, Any], hidden: Iterable[str], added: Mapping[str, Any]) -> Attributes:
    """Return the properties from attributes and their difference."""
    left_out = set(hidden)
    return {**{name: value for name, value in attributes.items() if name not in left_out}, **added}


# --- the file ------------------------------------------------------------------------------------------------------


def read_graphml(path: Path) -> networkx.Graph[str] | None:
    """Return the graph of a file, ``None`` when there is no file.

    Raises:
        StorageError: The file is no GraphML.
        OSError: It cannot be read.
    """
    if not path.exists():
        return None
    from xml.etree.ElementTree import ParseError

    import networkx as nx

    try:
        graph: networkx.Graph[str] = nx.read_graphml(path)
    except (ParseError, nx.NetworkXError, ValueError, KeyError) as error:
        raise StorageError(
            f"file {str(path)!r} is damaged: {error}. Restore it from a backup, or move it away"
        ) from error
    return nx.Graph(graph) if graph.is_directed() or graph.is_multigraph() else graph


def graphml_content(graph: networkx.Graph[str]) -> Iterable[bytes]:
    """Yield the content of a GraphML file."""
    import networkx as nx

    buffer = io.BytesIO()
    nx.write_graphml(graph, buffer)
    yield buffer.getvalue()
