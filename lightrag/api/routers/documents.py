"""Routes of documents: taking in, listing, following, deleting."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Body, File, Form, Path, Query, Request, Response, UploadFile

from lightrag.api.corpus import clear_corpus, delete_documents, list_documents, status_counts
from lightrag.api.deps import (
    Authenticated,
    BackgroundDep,
    CallerDep,
    EngineDep,
    GuardedRoute,
    InputsDep,
    IntakeDep,
    ScansDep,
    WholeCorpus,
    WholeEngineDep,
)
from lightrag.api.errors import ApiError
from lightrag.api.graph_view import access_of
from lightrag.api.intake import Texts
from lightrag.api.multipart import UPLOAD_FIELDS, file_results, parse_metadata, refuse_unknown_fields
from lightrag.api.openapi import ERROR_RESPONSES
from lightrag.api.schemas.documents import (
    METADATA_EXAMPLE,
    DeleteDocumentsRequest,
    DeleteDocumentsResponse,
    DocStatusResponse,
    FacetsResponse,
    InsertResponse,
    InsertTextRequest,
    InsertTextsRequest,
    MetadataPatch,
    OutcomeResponse,
    PaginatedRequest,
    PaginatedResponse,
    Pagination,
    ScanResponse,
    ScanStatusResponse,
    StatusCountsResponse,
    SupportedFileTypesResponse,
    TrackStatusResponse,
    UploadResponse,
)
from lightrag.api.schemas.filters import FilterQuery, preset_examples
from lightrag.exceptions import NotFoundError, PipelineBusyError
from lightrag.ingest.documents import new_track_id

router = APIRouter(
    prefix="/documents",
    tags=["documents"],
    route_class=GuardedRoute,
    dependencies=[Authenticated],
    responses=ERROR_RESPONSES,
)

SentFiles = Annotated[
    list[UploadFile] | None,
    File(
        description="A file, whose name may hold folders; may be sent several times.",
        examples=[["archive/act-1903.md"]],
    ),
]
MoreSentFiles = Annotated[
    list[UploadFile] | None,
    File(description="More files, as some forms name them.", examples=[["archive/act-1928.md"]]),
]
SentMetadata = Annotated[
    str | None,
    Form(description="DocumentMetadata as JSON, shared by all files.", examples=[json.dumps(METADATA_EXAMPLE)]),
]


@router.post("/upload")
async def upload_documents(
    request: Request,
    intake: IntakeDep,
    file: SentFiles = None,
    files: MoreSentFiles = None,
    metadata: SentMetadata = None,
) -> UploadResponse:
    """Store files and process them in the background. What is acknowledged survives a crash.

    With one file its error is the error of the request. With several each has a result of its own.
    """
    await refuse_unknown_fields(request, UPLOAD_FIELDS)
    shared = parse_metadata(metadata)
    incoming = [*(file or []), *(files or [])]
    if not incoming:
        raise ApiError(422, "no file was sent; send one in the multipart field 'file'", "validation_error")
    track_id = new_track_id("upload")
    outcomes = [await intake.add_file(one, shared, track_id) for one in incoming]
    return file_results(outcomes, track_id)


@router.post("/text")
async def insert_text(body: Annotated[InsertTextRequest, Body()], intake: IntakeDep) -> InsertResponse:
    """Store a text and process it in the background. What is acknowledged survives a crash."""
    chunking = body.chunking.model_dump() if body.chunking else None
    track_id = await intake.add_texts(
        Texts([body.text], None if body.file_source is None else [body.file_source], body.metadata, chunking)
    )
    return InsertResponse(status="success", message="the text is stored and will be processed", track_id=track_id)


@router.post("/texts")
async def insert_texts(body: InsertTextsRequest, intake: IntakeDep) -> InsertResponse:
    """Store texts and process them in the background. The metadata is shared by all of them."""
    chunking = body.chunking.model_dump() if body.chunking else None
    track_id = await intake.add_texts(Texts(body.texts, body.file_sources, body.metadata, chunking))
    return InsertResponse(
        status="success", message=f"{len(body.texts)} texts are stored and will be processed", track_id=track_id
    )


@router.post("/scan", dependencies=[WholeCorpus])
async def scan_for_new_documents(scans: ScansDep) -> ScanResponse:
    """Look for new files in the input folder, and try failed documents once more.

    A file takes its time of modification and folder with it, and metadata from ``NAME.meta.json`` beside it.
    """
    scan = scans.begin()
    if scan is None:
        return ScanResponse(
            status="scanning_skipped_pipeline_busy",
            message="a scan or a deletion is going on; try again later",
            track_id=new_track_id("scan"),
        )
    return ScanResponse(status="scanning_started", message=scan.message, track_id=scan.track_id)


@router.get("/scan/status/{track_id}", dependencies=[WholeCorpus])
async def get_scan_status(
    track_id: Annotated[
        str, Path(description="Id that POST /documents/scan gave.", examples=["scan_20260115_093000_1a2b3c4d"])
    ],
    scans: ScansDep,
) -> ScanStatusResponse:
    """Tell how far a scan is. Scans are forgotten when the server ends."""
    scan = scans.get(track_id)
    if scan is None:
        raise NotFoundError(f"scan {track_id!r} is not known")
    return ScanStatusResponse(**vars(scan))


@router.post("/paginated")
async def get_documents_paginated(
    body: Annotated[PaginatedRequest, Body(openapi_examples=preset_examples({"page": 1}))],
    engine: EngineDep,
    caller: CallerDep,
) -> PaginatedResponse:
    """List documents page by page, limited by state and by the same filters as questions."""
    rows, total = await list_documents(engine, body, access_of(engine, caller))
    return PaginatedResponse(
        documents=[DocStatusResponse.of(doc_id, row) for doc_id, row in rows],
        pagination=Pagination.of(body.page, body.page_size, total),
        status_counts=await status_counts(engine),
    )


@router.get("/status_counts")
async def get_document_status_counts(engine: EngineDep) -> StatusCountsResponse:
    """Count the documents of each state."""
    return StatusCountsResponse(status_counts=await status_counts(engine))


@router.get("/facets")
async def get_document_facets(limits: Annotated[FilterQuery, Query()], engine: EngineDep) -> FacetsResponse:
    """Count what there is to filter by: tags, types, folders, dates; of all documents or those that a filter leaves."""
    return FacetsResponse(**asdict(await engine.afacets(limits.filter_param())))


@router.get("/track_status/{track_id}")
async def get_track_status(
    track_id: Annotated[
        str, Path(description="Id that the storing request gave.", examples=["upload_20260115_093000_1a2b3c4d"])
    ],
    engine: EngineDep,
) -> TrackStatusResponse:
    """Tell what became of the documents of a request; nothing for an id that is not known."""
    if not track_id.strip():
        raise ApiError(400, "the track id is blank", "invalid_input")
    return TrackStatusResponse.of(track_id, await engine.aget_docs_by_track_id(track_id))


@router.patch("/{doc_id:path}/metadata")
async def update_document_metadata(
    doc_id: Annotated[str, Path(description="Id of the document.", examples=["doc-7d1e0a"])],
    body: MetadataPatch,
    engine: EngineDep,
) -> DocStatusResponse:
    """Replace dates, tags or other metadata of a document; every question is limited by the new ones at once."""
    return DocStatusResponse.of(doc_id, await engine.aupdate_document_metadata(doc_id, body.changes()))


@router.get("/supported_file_types")
async def get_supported_file_types(response: Response, engine: EngineDep) -> SupportedFileTypesResponse:
    """List the types of files that can be uploaded, by the engines that read them; services only where set up."""
    response.headers["Cache-Control"] = "no-store"
    parsers = engine.context.parsers
    return SupportedFileTypesResponse(supported_extensions=parsers.supported_extensions(), engines=parsers.extensions())


@router.delete("")
async def clear_documents(engine: WholeEngineDep, inputs: InputsDep) -> OutcomeResponse:
    """Delete all documents, the whole graph, and the files that wait in the input folder."""
    try:
        failures, files = await clear_corpus(engine, inputs)
    except PipelineBusyError as error:
        return OutcomeResponse(status="busy", message=str(error))
    if failures:
        told = "; ".join(f"{namespace}: {message}" for namespace, message in failures.items())
        return OutcomeResponse(status="partial_success", message=f"not everything was deleted: {told}")
    return OutcomeResponse(status="success", message=f"all documents are deleted, and {files} files")


@router.delete("/delete_document")
async def delete_document(
    body: DeleteDocumentsRequest, engine: EngineDep, inputs: InputsDep, background: BackgroundDep
) -> DeleteDocumentsResponse:
    """Delete documents and what came from them alone, in the background. Ids that do not exist are named."""
    told: dict[str, Any] = {"doc_id": ", ".join(body.doc_ids)}
    if engine.pipeline_status()["busy"]:
        return DeleteDocumentsResponse(status="busy", message="the pipeline is busy; try again later", **told)
    known = await engine.aget_docs_by_ids(body.doc_ids)
    unknown = [doc_id for doc_id in body.doc_ids if doc_id not in known]
    if not known:
        raise NotFoundError(f"no such document: {', '.join(map(repr, unknown))}")
    background.spawn(delete_documents(engine, inputs, list(known), body))
    message = f"{len(known)} documents are being deleted"
    if unknown:
        message += f"; not known: {', '.join(map(repr, unknown))}"
    return DeleteDocumentsResponse(status="deletion_started", message=message, **told)
