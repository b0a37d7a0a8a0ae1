/** What the pages use of the server's interface. Types come from its description, see `generated.ts`. */

import type * as wire from './generated'
import { addressOf, call, headersOf, heedAnswer, offlineError, send, toApiError } from './http'
import { session } from './session'
import { readLines, type StreamLine } from './stream'

export type DateRangeMode = wire.DateRangeMode
export type DocumentDateShape = wire.DocumentDateShape
export type UndatedMatch = wire.UndatedMatch
export type RequiredTagsMode = wire.RequiredTagsMode

export type DateFilter = {
  range?: { start?: string | null; end?: string | null } | null
  range_mode?: DateRangeMode
  shape?: DocumentDateShape
  undated?: UndatedMatch
}

/** Limits of a request. Keys of what does not limit are left out. */
export type FilterPayload = Omit<wire.FilterFields, 'date_filter'> & { date_filter?: DateFilter | null }
export type QueryRequest = Omit<wire.QueryRequest, 'date_filter'> & { date_filter?: DateFilter | null }
export type DocStatusResponse = wire.DocStatusResponse
export type DocStatus = wire.DocStatus
export type PaginatedRequest = Omit<wire.PaginatedRequest, 'date_filter'> & { date_filter?: DateFilter | null }
export type Facets = wire.FacetsResponse
export type Preview = wire.PreviewResponse
export type Reference = wire.Reference
export type GraphResponse = wire.GraphResponse
export type GraphNode = wire.GraphNode
export type GraphEdge = wire.GraphEdge
export type PipelineStatus = wire.PipelineStatusResponse
export type MetadataPatch = wire.MetadataPatch
export type AuthStatus = wire.AuthStatusResponse
export type UploadResponse = wire.UploadResponse

export interface Health {
  status: string
  core_version?: string
  api_version?: string
  api_docs_available?: boolean
  ai_content_notice_enabled?: boolean
  pipeline_busy?: boolean
  working_directory?: string
  input_directory?: string
  configuration?: Record<string, unknown>
}

export const getHealth = async (signal?: AbortSignal): Promise<Health> => (await call('get_health', { signal })) as unknown as Health
export const getAuthStatus = (): Promise<AuthStatus> => call('get_auth_status')
export const verifyCredential = () => call('verify_credential')
export const login = (username: string, password: string) => call('login', { form: new URLSearchParams({ username, password }) })

export const getDocumentsPaginated = (body: PaginatedRequest, signal?: AbortSignal) =>
  call('get_documents_paginated', { body: body as wire.PaginatedRequest, signal })
export const getFacets = (filter: FilterPayload, signal?: AbortSignal): Promise<Facets> =>
  call('get_document_facets', { query: Object.keys(filter).length ? { filter: JSON.stringify(filter) } : {}, signal })
export const previewFilter = (filter: FilterPayload, signal?: AbortSignal): Promise<Preview> =>
  call('preview_filter', { body: filter as wire.FilterFields, signal })
export const getPipelineStatus = (): Promise<PipelineStatus> => call('get_pipeline_status')
export const getSupportedFileTypes = () => call('get_supported_file_types')
export const updateDocumentMetadata = (docId: string, body: MetadataPatch) =>
  call('update_document_metadata', { path: { doc_id: docId }, body })
export const deleteDocuments = (docIds: string[], deleteFile: boolean) =>
  call('delete_document', { body: { doc_ids: docIds, delete_file: deleteFile, delete_llm_cache: false } })
export const clearDocuments = () => call('clear_documents')
export const retryDocument = (docId: string) => call('retry_document', { path: { doc_id: docId } })
export const reprocessFailed = () => call('reprocess_failed_documents')
export const cancelPipeline = () => call('cancel_pipeline')
export const scanForNewDocuments = () => call('scan_for_new_documents')
export const clearCache = () => call('clear_cache', { body: {} })

export const getPopularLabels = (limit: number, requiredTags: string[] = []) =>
  call('get_popular_labels', { query: { limit, required_tags: requiredTags } })
export const searchLabels = (q: string, limit: number, requiredTags: string[] = []) =>
  call('search_labels', { query: { q, limit, required_tags: requiredTags } })
export const listScopes = () => call('list_scopes')

/** Fetches a part of the graph: of one scope when a scope tag is required, of the whole otherwise. */
export function queryGraphs(label: string, maxDepth: number, maxNodes: number, requiredTags: string[] = [], signal?: AbortSignal): Promise<GraphResponse> {
  return call('get_knowledge_graph', { query: { label, max_depth: maxDepth, max_nodes: maxNodes, required_tags: requiredTags }, signal })
}

/** Fetches a part of the graph as a filter leaves it: nodes and edges by their own evidence. */
export const queryFilteredGraph = (view: { label: string; max_depth: number; max_nodes: number }, filter: FilterPayload, signal?: AbortSignal): Promise<GraphResponse> =>
  call('get_filtered_graph', { body: { ...view, ...filter } as wire.GraphRequest, signal })

export const editEntity = (body: wire.EditEntityRequest) => call('edit_graph_entity', { body })
export const editRelation = (body: wire.EditRelationRequest) => call('edit_graph_relation', { body })
export const mergeEntities = (body: wire.MergeEntitiesRequest) => call('merge_graph_entities', { body })
export const deleteEntity = (body: wire.DeleteEntityRequest) => call('delete_graph_entity', { body })
export const deleteRelation = (body: wire.DeleteRelationRequest) => call('delete_graph_relation', { body })

/** Yields what `/query/stream` sends, line by line. Aborting the signal stops the work of the server too. */
export async function* queryTextStream(body: QueryRequest, signal: AbortSignal): AsyncGenerator<StreamLine> {
  const response = await send('query_text_stream', { body: body as wire.QueryRequest, signal })
  yield* readLines(response)
}

/** Sends one file with metadata, and tells how much of it has gone. `fetch` cannot, so this is an XMLHttpRequest. */
export function uploadDocument(file: File, metadata: object | null, onProgress: (share: number) => void, signal?: AbortSignal): Promise<UploadResponse> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const { token } = session.get()
    const form = new FormData()
    form.append('file', file, file.name)
    if (metadata && Object.keys(metadata).length) form.append('metadata', JSON.stringify(metadata))
    request.open('POST', addressOf('upload_documents'))
    headersOf().forEach((value, name) => request.setRequestHeader(name, value))
    request.upload.addEventListener('progress', (event) => onProgress(event.lengthComputable ? event.loaded / event.total : 0))
    request.addEventListener('error', () => reject(offlineError()))
    request.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')))
    request.addEventListener('load', () => {
      let body: unknown = null
      try {
        body = JSON.parse(request.responseText)
      } catch {
        // Told below by the status.
      }
      const error = request.status >= 200 && request.status < 300 ? null : toApiError(request.status, body, request.getResponseHeader('Retry-After'))
      heedAnswer(token, request.getResponseHeader('X-New-Token'), error)
      if (error) reject(error)
      else resolve(body as UploadResponse)
    })
    signal?.addEventListener('abort', () => request.abort(), { once: true })
    request.send(form)
  })
}
