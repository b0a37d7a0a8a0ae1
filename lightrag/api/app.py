"""Put the server together."""

from __future__ import annotations

import asyncio
import logging
from argparse import Namespace
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from lightrag.api import API_VERSION
from lightrag.api.arguments import given_by_name
from lightrag.api.auth import Access, check_safety
from lightrag.api.docs import install_docs
from lightrag.api.errors import install_error_handlers
from lightrag.api.files import InputFolder
from lightrag.api.logs import note_origin
from lightrag.api.metrics import EngineFigures, Metrics
from lightrag.api.middleware import BodyCeiling, RequestBoundary, SecurityHeaders
from lightrag.api.openapi import DESCRIPTION, install_openapi, operation_id
from lightrag.api.routers import (
    auth,
    documents,
    graph,
    graph_edits,
    health,
    metrics,
    ollama,
    pages,
    pipeline,
    query,
    sources,
)
from lightrag.api.state import ServerState
from lightrag.api.web_ui import add_web_ui
from lightrag.configured import build_engine
from lightrag.lightrag import LightRAG
from lightrag.settings_api import MEBIBYTE, ApiSettings, load_api_settings

logger = logging.getLogger("lightrag.api")

WEB_UI_FOLDER = Path(__file__).resolve().parent / "webui"
_TEXTS_BODY_BYTES = 50 * MEBIBYTE


def create_app(
    settings: ApiSettings | Namespace | None = None,
    *,
    engine: LightRAG | None = None,
    engine_fields: Mapping[str, Any] | None = None,
) -> FastAPI:
    """Return the server as an ASGI application.

    Args:
        settings: Settings; arguments of a command line by name; or ``None`` for those of the environment.
        engine: An engine that is not opened yet; made from the settings when not given.
        engine_fields: Fields of :class:`LightRAG` that win over the environment.

    Raises:
        InputError: A setting cannot be used, or the server would not be safe.
    """
    settings, fields = _settings_and_fields(settings, dict(engine_fields or {}))
    access = Access(settings)
    check_safety(settings, access)
    engine = engine or build_engine(settings, **fields)
    state = ServerState(
        settings=settings,
        engine=engine,
        access=access,
        metrics=Metrics(),
        inputs=InputFolder(settings.input_dir, engine.workspace),
        web_ui=WEB_UI_FOLDER if (WEB_UI_FOLDER / "index.html").is_file() else None,
    )
    app = FastAPI(
        title="LightRAG Server API",
        version=API_VERSION,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json" if settings.enable_api_docs else None,
        root_path=settings.api_prefix.rstrip("/"),
        generate_unique_id_function=operation_id,
        lifespan=_lifespan,
        middleware=_middleware(settings, state),
    )
    app.state.server = state
    install_error_handlers(app)
    _include_routes(app, state)
    install_openapi(app)
    return app


def _settings_and_fields(
    settings: ApiSettings | Namespace | None, fields: dict[str, Any]
) -> tuple[ApiSettings, dict[str, Any]]:
    if isinstance(settings, ApiSettings):
        return settings, fields
    given = given_by_name(settings) if settings else {}
    own = {name: value for name, value in given.items() if name in ApiSettings.model_fields}
    known = LightRAG.__dataclass_fields__
    of_engine = {name: given[name] for name in given if name in known and name not in own}
    return load_api_settings(**own), {**of_engine, **fields}


def _middleware(settings: ApiSettings, state: ServerState) -> list[Middleware]:
    ceilings = {
        "/documents/text": _TEXTS_BODY_BYTES,
        "/documents/texts": _TEXTS_BODY_BYTES,
        "/documents/upload": settings.max_upload_size + MEBIBYTE,
    }
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["*"],
            allow_headers=["*"],
            allow_credentials="*" not in settings.cors_origins,
            expose_headers=["X-New-Token", "X-Request-ID", "Retry-After"],
        ),
        Middleware(SecurityHeaders),
        Middleware(RequestBoundary, metrics=state.metrics),
        Middleware(BodyCeiling, default=settings.max_request_body_bytes, by_path=ceilings),
    ]


def _include_routes(app: FastAPI, state: ServerState) -> None:
    for module in (health, auth, documents, sources, pipeline, query, graph, graph_edits, ollama, pages):
        app.include_router(module.router)
    if state.settings.enable_metrics:
        app.include_router(metrics.router)
    if state.settings.enable_api_docs:
        install_docs(app)
    add_web_ui(app, state.web_ui)


async def _mark_inputs(inputs: InputFolder) -> None:
    try:
        await asyncio.to_thread(inputs.mark)
    except OSError as error:
        logger.warning("the input folder %r cannot be marked as that of this workspace: %s", str(inputs.root), error)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    state: ServerState = app.state.server
    await state.engine.initialize_storages()
    await _mark_inputs(state.inputs)
    state.metrics.engine.read = lambda: EngineFigures.of(state.engine)
    stop_logging = state.engine.on("document", note_origin)
    state.background.start()
    try:
        yield
    finally:
        stop_logging()
        state.metrics.engine.read = lambda: None
        await state.background.stop(float(state.settings.shutdown_seconds))
        await state.engine.finalize_storages()
        logger.info("stopped")
