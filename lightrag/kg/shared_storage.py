"""Import path that users already have, for what the published package shares between processes.

Nothing is shared here: an engine has its own stores and its own pipeline, and looks after both. The functions do what
their callers rely on: those that prepare or clean up need nothing done, the pipeline's status can be read and its
cancellation asked for, and locks lock.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, MutableMapping
from contextlib import asynccontextmanager
from typing import Any, ClassVar, Protocol
from weakref import WeakValueDictionary

from lightrag.exceptions import InputError

PIPELINE_STATUS = "pipeline_status"
_WRITABLE = ("cancellation_requested", "cancellation_reason", "latest_message")


class Pipeline(Protocol):
    """The state of a workspace's pipeline."""

    def snapshot(self) -> dict[str, Any]:
        """Return the fields that clients know."""
        ...


class _Shared:
    """What the functions below work on."""

    workspace = ""
    pipelines: ClassVar[WeakValueDictionary[tuple[str, str], Any]] = WeakValueDictionary()
    namespaces: ClassVar[dict[tuple[str, str], dict[str, Any]]] = {}
    locks: ClassVar[WeakValueDictionary[tuple[str, ...], asyncio.Lock]] = WeakValueDictionary()


class PipelineStatus(MutableMapping[str, Any]):
    """The status of a pipeline as a mapping: always the present one, writable where writing means something."""

    def __init__(self, pipeline: Any) -> None:
        """Look at a pipeline."""
        self._pipeline = pipeline

    def __getitem__(self, key: str) -> Any:
        return self._pipeline.snapshot()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._pipeline.snapshot())

    def __len__(self) -> int:
        return len(self._pipeline.snapshot())

    def __setitem__(self, key: str, value: Any) -> None:
        if key not in _WRITABLE:
            raise InputError(f"{key!r} of the pipeline belongs to the engine; writable are {', '.join(_WRITABLE)}")
        setattr(self._pipeline, key, value)

    def __delitem__(self, key: str) -> None:
        raise InputError(f"{key!r} of the pipeline belongs to the engine")


def publish_pipeline(working_dir: str, workspace: str, pipeline: Pipeline) -> None:
    """Let :func:`get_namespace_data` find a pipeline as long as an engine has it."""
    _Shared.pipelines[working_dir, workspace] = pipeline


async def initialize_pipeline_status(workspace: str | None = None) -> None:
    """Do nothing: an engine makes its pipeline's status itself."""


def initialize_share_data(workers: int = 1, global_concurrency_limits: Any = None) -> None:
    """Do nothing: nothing is shared between processes."""


def finalize_share_data() -> None:
    """Do nothing: engines close their own stores."""


def is_share_data_initialized() -> bool:
    """Return true: nothing needs to be prepared."""
    return True


def set_default_workspace(workspace: str | None = None) -> None:
    """Name the workspace that the functions below mean when none is given."""
    _Shared.workspace = workspace or ""


def get_default_workspace() -> str:
    """Return the workspace that is meant when none is given."""
    return _Shared.workspace


def get_final_namespace(namespace: str, workspace: str | None = None) -> str:
    """Return ``workspace:namespace``, or the namespace alone without a workspace."""
    name = _Shared.workspace if workspace is None else workspace
    return f"{name}:{namespace}" if name else namespace


async def get_namespace_data(
    namespace: str, first_init: bool = False, workspace: str | None = None
) -> MutableMapping[str, Any]:
    """Return the status of a workspace's pipeline, or a mapping of this process for any other namespace.

    Args:
        namespace: ``pipeline_status``, or a name of one's own.
        first_init: Accepted; the first call makes what is not there.
        workspace: The workspace; ``None`` for the default one.

    Raises:
        InputError: The pipeline's status is asked for, and no engine, or more than one, has that workspace.
    """
    name = _Shared.workspace if workspace is None else workspace
    if namespace != PIPELINE_STATUS:
        return _Shared.namespaces.setdefault((name, namespace), {})
    found = [pipeline for (_, known), pipeline in _Shared.pipelines.items() if known == name]
    if len(found) != 1:
        raise InputError(
            f"{len(found)} engines in this process have the workspace {name!r}; "
            "ask the engine itself: rag.pipeline_status()"
        )
    return PipelineStatus(found[0])


def get_namespace_lock(namespace: str, workspace: str | None = None, enable_logging: bool = False) -> asyncio.Lock:
    """Return the lock of a namespace; the same one as long as somebody has it."""
    return _lock("namespace", get_final_namespace(namespace, workspace))


def get_pipeline_status_lock(enable_logging: bool = False, workspace: str | None = None) -> asyncio.Lock:
    """Return the lock that users hold while they look at the pipeline's status; the engine needs none."""
    return get_namespace_lock(PIPELINE_STATUS, workspace)


def get_internal_lock(enable_logging: bool = False) -> asyncio.Lock:
    """Return a lock of this process."""
    return _lock("internal")


def get_data_init_lock(enable_logging: bool = False) -> asyncio.Lock:
    """Return a lock of this process."""
    return _lock("data init")


@asynccontextmanager
async def get_storage_keyed_lock(
    keys: str | list[str], namespace: str = "default", enable_logging: bool = False
) -> AsyncIterator[None]:
    """Hold the locks of some keys, taken in one order so that two callers never wait for each other."""
    wanted = sorted({keys} if isinstance(keys, str) else set(keys))
    held: list[asyncio.Lock] = []
    try:
        for key in wanted:
            lock = _lock("key", namespace, key)
            await lock.acquire()
            held.append(lock)
        yield
    finally:
        for lock in reversed(held):
            lock.release()


def _lock(*name: str) -> asyncio.Lock:
    lock = _Shared.locks.get(name)
    if lock is None:
        lock = _Shared.locks[name] = asyncio.Lock()
    return lock
