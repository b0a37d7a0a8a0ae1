"""Workspaces of the file family, and the folder that the published package wrote."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tests.conformance.families import Workspace, family_named

STORAGES = {
    "kv_storage": "JsonKVStorage",
    "doc_status_storage": "JsonDocStatusStorage",
    "graph_storage": "NetworkXStorage",
    "vector_storage": "NanoVectorDBStorage",
}
PEER_FOLDER = Path(__file__).resolve().parents[2] / "data" / "peer-1.5.7-working-dir"


def workspace_in(folder: Path | str, name: str = "") -> Workspace:
    return Workspace(family_named("files"), Path(folder), name)


def copy_of_peer_folder(folder: Path) -> Path:
    shutil.copytree(PEER_FOLDER, folder, dirs_exist_ok=True)
    return folder


def content_of(folder: Path) -> dict[str, Any]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
