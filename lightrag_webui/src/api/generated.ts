// Made by scripts/generate-api.mjs from tests/api/openapi.json. Changes by hand are lost.

export type AuthStatusResponse = {
  /** Version of the engine. */
  core_version: string
  /** Version of this interface. */
  api_version: string
  /** Title of the web UI. */
  webui_title: string | null
  /** Line below it. */
  webui_description: string | null
  /** Whether pages say that answers are made by a model. */
  ai_content_notice_enabled: boolean
  /** Whether there are accounts. */
  auth_configured: boolean
  /** The same in a word. */
  auth_mode: "enabled" | "disabled"
  /** Token of a guest, where nobody must log in. */
  access_token?: string | null
  /** bearer */
  token_type?: string | null
  /** In words. */
  message?: string | null
}

export type Bar = {
  /** First year, as a number. */
  start_year: number
  /** Width, years. */
  years: number
  /** Documents whose period touches it, count. */
  documents: number
}

export type Body_login = {
  /** Name of the user. */
  username: string
  /** Password. */
  password: string
}

export type Body_upload_documents = {
  /** A file, whose name may hold folders; may be sent several times. */
  file?: Blob[] | null
  /** More files, as some forms name them. */
  files?: Blob[] | null
  /** DocumentMetadata as JSON, shared by all files. */
  metadata?: string | null
}

export type Chunking = {
  /** fixed_token, recursive_character, semantic_vector or paragraph_semantic. */
  strategy?: string
  /** chunk_token_size and chunk_overlap_token_size (tokens), split_by_character, separators and so on, as the strategy has them; an error lists those. */
  params?: Record<string, unknown>
}

export type ClearCacheRequest = {

}

export type CreateEntityRequest = {
  /** Name of the entity. */
  entity_name: string
  /** description, entity_type and properties of its own. */
  entity_data?: Record<string, unknown>
  /** Scope of the object; the whole when left out. */
  tenant_tag?: string | null
}

export type CreateRelationRequest = {
  /** One end. */
  source_entity: string
  /** The other end. */
  target_entity: string
  /** description (needed), keywords, weight, source_id. */
  relation_data: Record<string, unknown>
  /** Scope of the object; the whole when left out. */
  tenant_tag?: string | null
}

export type DateFilter = {
  /** The window; `None` skips `range_mode`. */
  range?: DateRangeFilter | null
  range_mode?: DateRangeMode
  shape?: DocumentDateShape
  undated?: UndatedMatch
}

export type DateRangeFilter = {
  /** First instant of the window. */
  start?: string | null
  /** Last instant of the window, itself inside. */
  end?: string | null
}

export type DateRangeMode = "overlap" | "contained_by" | "contains"

export type DeleteDocumentsRequest = {
  /** Ids, each once. */
  doc_ids: string[]
  /** Also delete the files in the input folder. */
  delete_file?: boolean
  /** Also forget what the model said about them. */
  delete_llm_cache?: boolean
}

export type DeleteDocumentsResponse = {
  /** busy: the pipeline works; try again later. */
  status: "deletion_started" | "busy" | "not_allowed"
  /** In words. */
  message: string
  /** The ids, separated by a comma and a blank. */
  doc_id: string
}

export type DeleteEntityRequest = {
  /** Name of the entity. */
  entity_name: string
  /** Scope of the object; the whole when left out. */
  tenant_tag?: string | null
}

export type DeleteRelationRequest = {
  /** One end. */
  source_entity: string
  /** The other end. */
  target_entity: string
  /** Scope of the object; the whole when left out. */
  tenant_tag?: string | null
}

export type DeletionResponse = {
  /** Always success. */
  status: "success"
  /** Always empty. */
  doc_id?: string
  /** In words. */
  message: string
  /** HTTP status of the response, a number. */
  status_code?: number
  /** Always null. */
  file_path?: string | null
}

export type DocStatus = "pending" | "parsing" | "analyzing" | "processing" | "preprocessed" | "processed" | "failed"

export type DocStatusResponse = {
  /** Id of the document. */
  id: string
  /** Its first 250 characters at the most. */
  content_summary: string
  /** Length of its text, characters. */
  content_length: number
  /** State of its processing. */
  status: DocStatus
  /** When it was accepted, ISO-8601. */
  created_at: string
  /** When its state last changed, ISO-8601. */
  updated_at: string
  /** Names the request that brought it. */
  track_id?: string | null
  /** Chunks that it was cut into, count. */
  chunks_count?: number | null
  /** Why it failed. */
  error_msg?: string | null
  /** Notes of its processing. */
  metadata?: Record<string, unknown> | null
  /** Path that identifies it. */
  file_path: string
  /** Its first date, as submitted, with its offset. */
  start_date?: string | null
  /** Its last date, as submitted, with its offset. */
  end_date?: string | null
  /** Its tags, in normal form. */
  tags?: string[]
  /** Free metadata, as submitted. */
  meta?: Record<string, unknown>
  /** When its source was last changed, ISO-8601. */
  modified_at?: string | null
  /** Kind of source. */
  doc_type?: string | null
  /** Path in its source. */
  source_path?: string | null
}

export type DocumentDateShape = "any" | "dated" | "bounded" | "has_start" | "has_end"

export type DocumentMetadata = {
  /** When what the document says begins to hold; ISO-8601 with offset or an aware datetime. */
  start_date?: string | null
  /** When it ends, itself included. */
  end_date?: string | null
  /** Broad categories to filter by, in normal form. */
  tags?: string[]
  /** Any JSON object; given back as it was, never searched. */
  meta?: Record<string, unknown>
  /** When the source was last changed. */
  modified_at?: string | null
  /** Kind of source, such as `pdf` or `note`, without case. */
  doc_type?: string | null
  /** Path in the source, relative to its root. */
  source_path?: string | null
}

export type EditEntityRequest = {
  /** Name of the entity. */
  entity_name: string
  /** What shall be otherwise; entity_name gives it another name. */
  updated_data: Record<string, unknown>
  /** Allow another name. */
  allow_rename?: boolean
  /** Merge with the entity that has that name already. */
  allow_merge?: boolean
  /** Scope of the object; the whole when left out. */
  tenant_tag?: string | null
}

export type EditEntityResponse = {
  /** Always success. */
  status: "success"
  /** In words. */
  message: string
  /** entity_name, or src_entity and tgt_entity; source_id; graph_data with all properties. */
  data: Record<string, unknown>
  /** merged, merge_status, merge_error, operation_status, target_entity, final_entity, renamed. */
  operation_summary: Record<string, unknown>
}

export type EditRelationRequest = {
  /** One end. */
  source_id: string
  /** The other end. */
  target_id: string
  /** What shall be otherwise. */
  updated_data: Record<string, unknown>
  /** Scope of the object; the whole when left out. */
  tenant_tag?: string | null
}

export type ErrorBody = {
  /** What was wrong and what was allowed; for 422 a list of faults, each with its path. */
  detail: string | Array<Record<string, unknown>>
  /** Short name of the kind of error, for programs. */
  code: string
}

export type ExistsResponse = {
  /** Whether it exists. */
  exists: boolean
}

export type FacetsResponse = {
  /** Processed documents, count. */
  documents: number
  /** Documents by facet and value: the tag type:act counts under type and act; a tag without colon under an empty facet. */
  tags: Record<string, Record<string, number>>
  /** Documents by type; empty is unknown. */
  doc_types: Record<string, number>
  /** Documents by folder, all below included. */
  folders: Record<string, number>
  /** Documents by years, oldest first. */
  histogram: Bar[]
  /** Documents without any date, count. */
  undated: number
}

export type FileResult = {
  /** Name as sent. */
  file_name: string
  /** Name under which it is stored; null when refused. */
  file_path: string | null
  /** Whether it is stored. */
  status: "success" | "failure"
  /** In words. */
  message: string
  /** Code of the error when refused. */
  code?: string | null
}

export type FilterFields = {
  /** Dates of the documents: a window, how a document relates to it, and which documents count. */
  date_filter?: DateFilter | null
  /** Tags that documents must carry, at most 32. A scope tag also chooses the graph that is asked. */
  required_tags?: string[] | null
  /** 'and' (default): all required tags; 'or': at least one. */
  required_tags_mode?: RequiredTagsMode | null
  /** Tags that documents must not carry, at most 32. */
  forbidden_tags?: string[] | null
  /** Also drop entities and relations to which a document with a forbidden tag contributes. */
  apply_forbidden_tags_to_kg?: boolean | null
  /** Entity types, relation types, documents by id, stored properties. */
  search_filters?: SearchFilters | null
  /** Types of documents, any of them, in any case. */
  doc_types?: string[] | null
  /** Folders that the documents lie in, any of them, by whole names. */
  path_prefixes?: string[] | null
  /** Earliest modification: ISO-8601 with offset, or Unix seconds. The instant itself counts. */
  modified_after?: string | number | null
  /** Latest modification, ISO-8601 with offset, or epoch seconds. */
  modified_before?: string | number | null
  /** What is shown of an entity or relation that excluded documents contribute to as well: 'prune_evidence' (default) what the others say, 'strict_drop' nothing, 'keep_merged' the merged text, which tells what the excluded ones say. */
  kg_evidence_policy?: KgEvidencePolicy | null
}

export type ForceResetRequest = {
  /** Must be true. */
  confirm?: boolean
}

export type ForceResetResponse = {
  /** no_recovery_required: an interrupted run resumes by itself. */
  status: string
  /** In words. */
  message: string
  /** Retries that were called off, count; always 0. */
  cancelled_manual_retries: number
}

export type GraphChangeResponse = {
  /** Always success. */
  status: "success"
  /** In words. */
  message: string
  /** entity_name, or src_entity and tgt_entity; source_id; graph_data with all properties. */
  data: Record<string, unknown>
}

export type GraphEdge = {
  /** Names of both ends, joined. */
  id: string
  /** DIRECTED, as clients expect it. */
  type: string | null
  /** One end. */
  source: string
  /** The other end. */
  target: string
  /** description, keywords, weight and so on. */
  properties: Record<string, unknown>
}

export type GraphNode = {
  /** Name of the entity. */
  id: string
  /** The name again, as clients expect it. */
  labels: string[]
  /** entity_type, description and so on. */
  properties: Record<string, unknown>
}

export type GraphRequest = {
  /** Dates of the documents: a window, how a document relates to it, and which documents count. */
  date_filter?: DateFilter | null
  /** Tags that documents must carry, at most 32. A scope tag also chooses the graph that is asked. */
  required_tags?: string[] | null
  /** 'and' (default): all required tags; 'or': at least one. */
  required_tags_mode?: RequiredTagsMode | null
  /** Tags that documents must not carry, at most 32. */
  forbidden_tags?: string[] | null
  /** Also drop entities and relations to which a document with a forbidden tag contributes. */
  apply_forbidden_tags_to_kg?: boolean | null
  /** Entity types, relation types, documents by id, stored properties. */
  search_filters?: SearchFilters | null
  /** Types of documents, any of them, in any case. */
  doc_types?: string[] | null
  /** Folders that the documents lie in, any of them, by whole names. */
  path_prefixes?: string[] | null
  /** Earliest modification: ISO-8601 with offset, or Unix seconds. The instant itself counts. */
  modified_after?: string | number | null
  /** Latest modification, ISO-8601 with offset, or epoch seconds. */
  modified_before?: string | number | null
  /** What is shown of an entity or relation that excluded documents contribute to as well: 'prune_evidence' (default) what the others say, 'strict_drop' nothing, 'keep_merged' the merged text, which tells what the excluded ones say. */
  kg_evidence_policy?: KgEvidencePolicy | null
  /** Name of an entity; * for the best connected ones. */
  label: string
  /** Hops from it, count. */
  max_depth?: number
  /** Entities at the most, count; the server's MAX_GRAPH_NODES is the limit. */
  max_nodes?: number
}

export type GraphResponse = {
  /** Entities. */
  nodes: GraphNode[]
  /** Relations between them. */
  edges: GraphEdge[]
  /** Whether the limit of nodes cut it. */
  is_truncated: boolean
}

export type HistoryMessage = {
  /** Who said it: user or assistant. */
  role: string
  /** What was said, characters. */
  content: string
}

export type InsertResponse = {
  /** success: stored durably, and processed next; partial_success: some files of the request only. */
  status: "success" | "partial_success" | "failure"
  /** In words. */
  message: string
  /** Names the request; GET /documents/track_status/{track_id} tells what becomes of it. */
  track_id: string
}

export type InsertTextRequest = {
  /** The text, characters. */
  text: string
  /** Path that identifies the document and is shown in references. */
  file_source?: string | null
  /** Dates, tags and free metadata of the document, by which questions can be limited. */
  metadata?: DocumentMetadata | null
  /** How it is cut; the server's way when left out. */
  chunking?: Chunking | null
}

export type InsertTextsRequest = {
  /** The texts, none of them empty. */
  texts: string[]
  /** As many paths, each different. */
  file_sources?: string[] | null
  /** Dates, tags and free metadata of the document, by which questions can be limited. Shared by all texts. */
  metadata?: DocumentMetadata | null
  /** How they are cut; the server's way when left out. */
  chunking?: Chunking | null
}

export type KgEvidencePolicy = "prune_evidence" | "strict_drop" | "keep_merged"

export type LoginResponse = {
  /** Version of the engine. */
  core_version: string
  /** Version of this interface. */
  api_version: string
  /** Title of the web UI. */
  webui_title: string | null
  /** Line below it. */
  webui_description: string | null
  /** Whether pages say that answers are made by a model. */
  ai_content_notice_enabled: boolean
  /** To be sent as Authorization: Bearer. */
  access_token: string
  /** Always bearer. */
  token_type: "bearer"
  /** Whether there are accounts. */
  auth_mode: "enabled" | "disabled"
  /** In words, for guests. */
  message?: string | null
}

export type MergeEntitiesRequest = {
  /** Names that shall go. */
  entities_to_change: string[]
  /** Name that shall stay. */
  entity_to_change_into: string
  /** Scope of the object; the whole when left out. */
  tenant_tag?: string | null
}

export type MetadataPatch = {
  /** First date, ISO-8601 with offset. */
  start_date?: string | null
  /** Last date, ISO-8601 with offset; the instant itself counts. */
  end_date?: string | null
  /** All its tags, 64 at the most. */
  tags?: string[] | null
  /** Any JSON object, 256 KiB at the most; given back, never searched. */
  meta?: Record<string, unknown> | null
  /** When its source was last changed. */
  modified_at?: string | null
  /** Kind of source. */
  doc_type?: string | null
  /** Path in its source. */
  source_path?: string | null
}

export type OutcomeResponse = {
  /** Outcome, one word. */
  status: string
  /** In words. */
  message: string
}

export type PaginatedRequest = {
  /** Dates of the documents: a window, how a document relates to it, and which documents count. */
  date_filter?: DateFilter | null
  /** Tags that documents must carry, at most 32. A scope tag also chooses the graph that is asked. */
  required_tags?: string[] | null
  /** 'and' (default): all required tags; 'or': at least one. */
  required_tags_mode?: RequiredTagsMode | null
  /** Tags that documents must not carry, at most 32. */
  forbidden_tags?: string[] | null
  /** Also drop entities and relations to which a document with a forbidden tag contributes. */
  apply_forbidden_tags_to_kg?: boolean | null
  /** Entity types, relation types, documents by id, stored properties. */
  search_filters?: SearchFilters | null
  /** Types of documents, any of them, in any case. */
  doc_types?: string[] | null
  /** Folders that the documents lie in, any of them, by whole names. */
  path_prefixes?: string[] | null
  /** Earliest modification: ISO-8601 with offset, or Unix seconds. The instant itself counts. */
  modified_after?: string | number | null
  /** Latest modification, ISO-8601 with offset, or epoch seconds. */
  modified_before?: string | number | null
  /** What is shown of an entity or relation that excluded documents contribute to as well: 'prune_evidence' (default) what the others say, 'strict_drop' nothing, 'keep_merged' the merged text, which tells what the excluded ones say. */
  kg_evidence_policy?: KgEvidencePolicy | null
  /** Only this state. */
  status_filter?: DocStatus | null
  /** Only these states; wins over status_filter. */
  status_filters?: DocStatus[] | null
  /** Only documents with this in name, title, tags or first lines; case is ignored. */
  search?: string
  /** Number of the page, from 1. */
  page?: number
  /** Documents per page, count. */
  page_size?: number
  /** What the list is sorted by. */
  sort_field?: "created_at" | "updated_at" | "id" | "file_path"
  /** Upwards or downwards. */
  sort_direction?: "asc" | "desc"
}

export type PaginatedResponse = {
  /** The documents of the page. */
  documents: DocStatusResponse[]
  /** Where the page lies. */
  pagination: Pagination
  /** Documents of each state, and of all, whatever was asked for. */
  status_counts: Record<string, number>
}

export type Pagination = {
  /** Number of this page, from 1. */
  page: number
  /** Documents per page, count. */
  page_size: number
  /** Documents on all pages, count. */
  total_count: number
  /** Pages, count. */
  total_pages: number
  /** Whether there is a page after this one. */
  has_next: boolean
  /** Whether there is a page before this one. */
  has_prev: boolean
}

export type PipelineStatusResponse = {
  /** Whether documents are being processed. */
  busy: boolean
  /** What runs, or ran last. */
  job_name: string
  /** When it began, ISO-8601; null before the first run. */
  job_start: string | null
  /** Documents of the run, count. */
  docs: number
  /** The same count, under an older name. */
  batchs: number
  /** Documents that are finished, count. */
  cur_batch: number
  /** Last line of the log. */
  latest_message: string
  /** Last lines of the log, 1000 at the most. */
  history_messages: string[]
  /** Always empty: there is one process. */
  update_status: Record<string, boolean[]>
  /** Always false: an interrupted run resumes by itself. */
  recovery_required: boolean
  /** Always null. */
  recovery_kind?: string | null
  /** Always null. */
  recovery_message?: string | null
  /** Whether something is being deleted. */
  destructive_busy: boolean
  /** Whether the input folder is being scanned. */
  scanning: boolean
  /** Always false: a scan keeps nobody out. */
  scanning_exclusive?: boolean
  /** Documents that are being stored now, count. */
  pending_enqueues: number
  /** Whether the run was asked to stop. */
  cancellation_requested: boolean
  /** Why. */
  cancellation_reason?: string | null
  /** Always null. */
  cancellation_detail?: string | null
}

export type PreviewResponse = {
  /** Whether anything is filtered at all. */
  active: boolean
  /** Processed documents that it accepts, count. */
  eligible_documents: number
  /** All processed documents, count. */
  total_documents: number
  /** Chunks of the documents that it accepts, count. */
  eligible_chunks: number
  /** Some of them, newest first: doc_id, file_path, start_date, end_date, tags. */
  examples: Array<Record<string, unknown>>
}

export type QueryData = {
  /** entity_name, entity_type, description, source_id, file_path, created_at of each. */
  entities?: Array<Record<string, unknown>> | null
  /** src_id, tgt_id, description, keywords, weight, source_id, file_path, created_at of each. */
  relationships?: Array<Record<string, unknown>> | null
  /** reference_id, content, file_path, chunk_id of each. */
  chunks?: Array<Record<string, unknown>> | null
  /** Sources of the chunks. */
  references?: Reference[] | null
}

export type QueryDataResponse = {
  /** failure when nothing was found. */
  status: "success" | "failure"
  /** In words. */
  message: string
  /** What was retrieved. */
  data: QueryData
  /** query_mode, keywords and processing_info; failure_reason and mode when nothing was found. */
  metadata: Record<string, unknown>
}

export type QueryRequest = {
  /** Dates of the documents: a window, how a document relates to it, and which documents count. */
  date_filter?: DateFilter | null
  /** Tags that documents must carry, at most 32. A scope tag also chooses the graph that is asked. */
  required_tags?: string[] | null
  /** 'and' (default): all required tags; 'or': at least one. */
  required_tags_mode?: RequiredTagsMode | null
  /** Tags that documents must not carry, at most 32. */
  forbidden_tags?: string[] | null
  /** Also drop entities and relations to which a document with a forbidden tag contributes. */
  apply_forbidden_tags_to_kg?: boolean | null
  /** Entity types, relation types, documents by id, stored properties. */
  search_filters?: SearchFilters | null
  /** Types of documents, any of them, in any case. */
  doc_types?: string[] | null
  /** Folders that the documents lie in, any of them, by whole names. */
  path_prefixes?: string[] | null
  /** Earliest modification: ISO-8601 with offset, or Unix seconds. The instant itself counts. */
  modified_after?: string | number | null
  /** Latest modification, ISO-8601 with offset, or epoch seconds. */
  modified_before?: string | number | null
  /** What is shown of an entity or relation that excluded documents contribute to as well: 'prune_evidence' (default) what the others say, 'strict_drop' nothing, 'keep_merged' the merged text, which tells what the excluded ones say. */
  kg_evidence_policy?: KgEvidencePolicy | null
  /** The question, characters. All modes but bypass need at least 3 letters, or 2 of Chinese, Japanese or Korean. */
  query: string
  /** How it is answered: local from entities, global from relations, hybrid from both, naive from chunks, mix (default) from all, bypass without the corpus. */
  mode?: "local" | "global" | "hybrid" | "naive" | "mix" | "bypass" | null
  /** Return the context instead of an answer. */
  only_need_context?: boolean | null
  /** Return the whole prompt instead of an answer. */
  only_need_prompt?: boolean | null
  /** Form of the answer, in words. */
  response_type?: string | null
  /** Entities or relations looked up, count. */
  top_k?: number | null
  /** Chunks at the most, count. */
  chunk_top_k?: number | null
  /** Budget of the entities in the context, tokens. */
  max_entity_tokens?: number | null
  /** Budget of the relations in the context, tokens. */
  max_relation_tokens?: number | null
  /** Budget of the whole prompt, tokens. */
  max_total_tokens?: number | null
  /** High-level keywords; with any given, no model is asked for them. */
  hl_keywords?: string[] | null
  /** Low-level keywords: names and terms. */
  ll_keywords?: string[] | null
  /** Messages before the question, oldest first. */
  conversation_history?: HistoryMessage[] | null
  /** Further instruction for the answer. */
  user_prompt?: string | null
  /** Leave out the prefix that the server puts before user prompts. */
  disable_user_prompt_prefix?: boolean | null
  /** Rerank chunks, where the server has a reranker. */
  enable_rerank?: boolean | null
  /** Return the sources of the answer; true when left out. */
  include_references?: boolean | null
  /** Return the text of the chunks with each reference. */
  include_chunk_content?: boolean | null
  /** In a stream, also send a line when a step begins. */
  include_progress?: boolean | null
  /** Show the dates and tags of each reference to the model. */
  include_document_metadata?: boolean | null
  /** On /query/stream: send the answer in pieces; true when left out. */
  stream?: boolean | null
}

export type QueryResponse = {
  /** The answer; it ends with [no-context] when nothing was found. */
  response: string
  /** Its sources; null when not asked for. */
  references: Reference[] | null
  /** How long it took, seconds. */
  response_time: number
  /** Whether a model wrote it. */
  llm_generated: boolean
  /** Whether it stops at the model's length limit; sent only when it does. */
  cut_off?: boolean
}

export type Reference = {
  /** Number by which the answer names it, from 1. */
  reference_id: string
  /** Path of the document. */
  file_path: string
  /** Texts of its chunks, if asked for. */
  content?: string[] | null
}

export type ReprocessResponse = {
  /** Always the same. */
  status: "reprocessing_started"
  /** In words. */
  message: string
  /** Empty: documents keep the id of the request that brought them. */
  track_id?: string
}

export type RequiredTagsMode = "and" | "or"

export type ScanResponse = {
  /** Whether it began. */
  status: "scanning_started" | "scanning_skipped_pipeline_busy"
  /** In words. */
  message: string
  /** Names the scan. */
  track_id: string
}

export type ScanStatusResponse = {
  /** Names the scan. */
  track_id: string
  /** How far it is. */
  status: "running" | "completed" | "failed" | "cancelled" | "abandoned"
  /** Files by what became of them. */
  counts: Record<string, number>
  /** Kinds that were not counted, count; always 0. */
  counters_dropped?: number
  /** Some names of each kind: items, truncated, dropped. */
  samples: Record<string, unknown>
  /** When it began, Unix seconds. */
  created_at: number
  /** When it last went on, Unix seconds. */
  updated_at: number
  /** Number that grows with every change. */
  version: number
  /** In words. */
  message: string
}

export type SearchFilters = {
  /** Entity types; an entity has one of them. Case does not count. */
  labels?: string[]
  /** A relation has one of them among its keywords. Case does not count. */
  relation_types?: string[]
  /** Only entities, relations and chunks from these documents. */
  document_ids?: string[]
  /** Stored attributes and the value each must equal; of a list, any one. Nothing is coerced, and "any of an empty list" matches nothing. */
  properties?: Record<string, unknown>
}

export type SourceConflictItem = {
  /** The path. */
  canonical_source_key: string
  /** How many documents have it, count. */
  candidate_count: number | null
  /** Some of them, oldest first. */
  sample_doc_ids: string[]
}

export type SourceConflictRepairRequest = {
  /** The path. */
  canonical_source_key: string
  /** The document that it shall stand for. */
  primary_doc_id: string
  /** candidate_count of the trial, count; needed to change something. */
  expected_candidate_count?: number | null
  /** fingerprint of the trial; needed to change something. */
  expected_candidate_fingerprint?: string | null
  /** Only tell what would be done. */
  dry_run?: boolean
}

export type SourceConflictRepairResponse = {
  /** The path. */
  canonical_source_key: string
  /** The document that it stands for. */
  primary_doc_id: string
  /** How many documents have the path, count. */
  candidate_count: number
  /** Of which documents these are. */
  fingerprint: string
  /** Some of those that become repetitions. They stay, and are found, until they are deleted. */
  demoted_sample_doc_ids: string[]
  /** Whether it was done. */
  committed: boolean
}

export type SourceConflictsResponse = {
  /** The paths of this page, sorted. */
  conflicts: SourceConflictItem[]
  /** Send it as cursor for the next page; null after the last one. */
  next_cursor: string | null
}

export type StatusCountsResponse = {
  /** Documents of each state, and of all. */
  status_counts: Record<string, number>
}

export type SupportedFileTypesResponse = {
  /** Suffixes, with the dot. */
  supported_extensions: string[]
  /** The same by parser. */
  engines: Record<string, string[]>
}

export type TrackStatusResponse = {
  /** The request. */
  track_id: string
  /** The documents that it brought. */
  documents: DocStatusResponse[]
  /** How many, count. */
  total_count: number
  /** How many in each state. */
  status_summary: Record<string, number>
}

export type UndatedMatch = "exclude" | "include_or" | "only"

export type UploadResponse = {
  /** success: stored durably, and processed next; partial_success: some files of the request only. */
  status: "success" | "partial_success" | "failure"
  /** In words. */
  message: string
  /** Names the request; GET /documents/track_status/{track_id} tells what becomes of it. */
  track_id: string
  /** One result per file, in the order sent. */
  files: FileResult[]
}

export type VerifyResponse = {
  /** Always ok. */
  status: "ok"
}

export interface Operations {
  /** Ask the pipeline to stop; documents that it has not finished fail with that reason and can be tried again. */
  cancel_pipeline: {
    method: "POST"
    path: "/documents/cancel_pipeline"
    query: undefined
    body: undefined
    response: OutcomeResponse
  }
  /** Tell whether there is an entity of that name. */
  check_entity_exists: {
    method: "GET"
    path: "/graph/entity/exists"
    query: {
      /** Name of an entity. */
      name: string
      /** Scope of the entity; the whole when left out. */
      tenant_tag?: string | null
    }
    body: undefined
    response: ExistsResponse
  }
  /** Forget all replies of the models: answers, keywords, extractions. */
  clear_cache: {
    method: "POST"
    path: "/documents/clear_cache"
    query: undefined
    body: ClearCacheRequest | null
    response: OutcomeResponse
  }
  /** Delete all documents, the whole graph, and the files that wait in the input folder. */
  clear_documents: {
    method: "DELETE"
    path: "/documents"
    query: undefined
    body: undefined
    response: OutcomeResponse
  }
  /** Create an entity. */
  create_graph_entity: {
    method: "POST"
    path: "/graph/entity/create"
    query: undefined
    body: CreateEntityRequest
    response: GraphChangeResponse
  }
  /** Create a relation between two entities that exist. */
  create_graph_relation: {
    method: "POST"
    path: "/graph/relation/create"
    query: undefined
    body: CreateRelationRequest
    response: GraphChangeResponse
  }
  /** Delete documents and what came from them alone, in the background. Ids that do not exist are named. */
  delete_document: {
    method: "DELETE"
    path: "/documents/delete_document"
    query: undefined
    body: DeleteDocumentsRequest
    response: DeleteDocumentsResponse
  }
  /** Delete an entity and its relations. A later document that names it makes it anew. */
  delete_graph_entity: {
    method: "DELETE"
    path: "/graph/entity/delete"
    query: undefined
    body: DeleteEntityRequest
    response: DeletionResponse
  }
  /** Delete a relation; both entities stay. */
  delete_graph_relation: {
    method: "DELETE"
    path: "/graph/relation/delete"
    query: undefined
    body: DeleteRelationRequest
    response: DeletionResponse
  }
  /** Change an entity, and if allowed its name; what a person says replaces what documents said so far. */
  edit_graph_entity: {
    method: "POST"
    path: "/graph/entity/edit"
    query: undefined
    body: EditEntityRequest
    response: EditEntityResponse
  }
  /** Change a relation; what a person says replaces what documents said so far. */
  edit_graph_relation: {
    method: "POST"
    path: "/graph/relation/edit"
    query: undefined
    body: EditRelationRequest
    response: GraphChangeResponse
  }
  /** Answer clients that know of a recovery by hand: an interrupted run resumes by itself, so there is none. */
  force_reset_recovery: {
    method: "POST"
    path: "/documents/recovery/force_reset"
    query: undefined
    body: ForceResetRequest
    response: ForceResetResponse
  }
  /** Tell whether one must log in; where nobody must, a guest's token comes with it. */
  get_auth_status: {
    method: "GET"
    path: "/auth-status"
    query: undefined
    body: undefined
    response: AuthStatusResponse
  }
  /** Count what there is to filter by: tags, types, folders, dates; of all documents or those that a filter leaves. */
  get_document_facets: {
    method: "GET"
    path: "/documents/facets"
    query: {
      /** Tags that documents must carry. */
      required_tags?: string[]
      /** 'and': all required tags; 'or': at least one. */
      required_tags_mode?: RequiredTagsMode
      /** Tags that documents must not carry. */
      forbidden_tags?: string[]
      /** Types of documents. */
      doc_types?: string[]
      /** Folders that the documents lie in. */
      path_prefixes?: string[]
      /** Any filter fields of POST /query as a JSON object; those given by name win. */
      filter?: string | null
    }
    body: undefined
    response: FacetsResponse
  }
  /** Count the documents of each state. */
  get_document_status_counts: {
    method: "GET"
    path: "/documents/status_counts"
    query: undefined
    body: undefined
    response: StatusCountsResponse
  }
  /** List documents page by page, limited by state and by the same filters as questions. */
  get_documents_paginated: {
    method: "POST"
    path: "/documents/paginated"
    query: undefined
    body: PaginatedRequest
    response: PaginatedResponse
  }
  /** Return a part of the graph through a whole filter: nodes and edges by their own evidence, texts from it alone. */
  get_filtered_graph: {
    method: "POST"
    path: "/graphs"
    query: undefined
    body: GraphRequest
    response: GraphResponse
  }
  /** List the names of all entities, sorted. */
  get_graph_labels: {
    method: "GET"
    path: "/graph/label/list"
    query: {
      /** Tags that documents must carry; a scope tag chooses the graph of that scope. */
      required_tags?: string[] | null
    }
    body: undefined
    response: string[]
  }
  /** Tell that the server lives; whoever may use it also sees how it is set up. No store is asked. */
  get_health: {
    method: "GET"
    path: "/health"
    query: undefined
    body: undefined
    response: Record<string, unknown>
  }
  /** Return the part of the graph around an entity, nearest and best connected first. */
  get_knowledge_graph: {
    method: "GET"
    path: "/graphs"
    query: {
      /** Name of an entity; * for the best connected ones. */
      label: string
      /** Hops from it, count. */
      max_depth?: number
      /** Entities at the most, count; the server's MAX_GRAPH_NODES is the limit. */
      max_nodes?: number
      /** Tags that documents must carry; a scope tag chooses the graph of that scope. */
      required_tags?: string[]
      /** 'and': all required tags; 'or': at least one. */
      required_tags_mode?: RequiredTagsMode
    }
    body: undefined
    response: GraphResponse
  }
  /** Return figures of requests, documents, questions, filters and models in the Prometheus text format. */
  get_metrics: {
    method: "GET"
    path: "/metrics"
    query: undefined
    body: undefined
    response: unknown
  }
  /** List the running models: the corpus. */
  get_ollama_running_models: {
    method: "GET"
    path: "/api/ps"
    query: undefined
    body: undefined
    response: Record<string, Array<Record<string, unknown>>>
  }
  /** List the models: the corpus. */
  get_ollama_tags: {
    method: "GET"
    path: "/api/tags"
    query: undefined
    body: undefined
    response: Record<string, Array<Record<string, unknown>>>
  }
  /** Tell which version of Ollama is spoken. */
  get_ollama_version: {
    method: "GET"
    path: "/api/version"
    query: undefined
    body: undefined
    response: Record<string, string>
  }
  /** Tell what the pipeline does. */
  get_pipeline_status: {
    method: "GET"
    path: "/documents/pipeline_status"
    query: undefined
    body: undefined
    response: PipelineStatusResponse
  }
  /** List the best connected entities. */
  get_popular_labels: {
    method: "GET"
    path: "/graph/label/popular"
    query: {
      /** Names at the most, count. */
      limit?: number
      /** Tags that documents must carry; a scope tag chooses the graph of that scope. */
      required_tags?: string[] | null
    }
    body: undefined
    response: string[]
  }
  /** Tell how far a scan is. Scans are forgotten when the server ends. */
  get_scan_status: {
    method: "GET"
    path: "/documents/scan/status/{track_id}"
    query: undefined
    body: undefined
    response: ScanStatusResponse
  }
  /** List the types of files that can be uploaded, by the engines that read them; services only where set up. */
  get_supported_file_types: {
    method: "GET"
    path: "/documents/supported_file_types"
    query: undefined
    body: undefined
    response: SupportedFileTypesResponse
  }
  /** Tell what became of the documents of a request; nothing for an id that is not known. */
  get_track_status: {
    method: "GET"
    path: "/documents/track_status/{track_id}"
    query: undefined
    body: undefined
    response: TrackStatusResponse
  }
  /** Return how the web UI shall look; it is not customised beyond title and description. */
  get_ui_customization: {
    method: "GET"
    path: "/ui/customization"
    query: {
      /** Language of the page. */
      locale?: string | null
    }
    body: undefined
    response: Record<string, unknown>
  }
  /** Return a file of a customised web UI; there is none. */
  get_ui_customization_asset: {
    method: "GET"
    path: "/ui/customization/assets/{asset_hash}/{asset_id}"
    query: undefined
    body: undefined
    response: unknown
  }
  /** Store a text and process it in the background. What is acknowledged survives a crash. */
  insert_text: {
    method: "POST"
    path: "/documents/text"
    query: undefined
    body: InsertTextRequest
    response: InsertResponse
  }
  /** Store texts and process them in the background. The metadata is shared by all of them. */
  insert_texts: {
    method: "POST"
    path: "/documents/texts"
    query: undefined
    body: InsertTextsRequest
    response: InsertResponse
  }
  /** List the scopes that have a graph of their own, sorted. */
  list_scopes: {
    method: "GET"
    path: "/graph/scope/list"
    query: undefined
    body: undefined
    response: string[]
  }
  /** List source paths that several documents have; storing refuses such a path, other programs may not. */
  list_source_conflicts: {
    method: "GET"
    path: "/documents/source_conflicts"
    query: {
      /** Paths on a page, count. */
      limit?: number
      /** next_cursor of the page before. */
      cursor?: string | null
    }
    body: undefined
    response: SourceConflictsResponse
  }
  /** Exchange name and password for a token. */
  login: {
    method: "POST"
    path: "/login"
    query: undefined
    body: Body_login
    response: LoginResponse
  }
  /** Merge entities, with all their relations, into one. */
  merge_graph_entities: {
    method: "POST"
    path: "/graph/entities/merge"
    query: undefined
    body: MergeEntitiesRequest
    response: GraphChangeResponse
  }
  /** Answer the last message of a chat from the documents. */
  ollama_chat: {
    method: "POST"
    path: "/api/chat"
    query: undefined
    body: {
      /** Not looked at. */
      model?: string
      /** The messages, oldest first. The last one may begin with a mode such as /naive, and with /filter{...} and the filter fields of POST /query as JSON. */
      messages: Array<{
        /** system, user or assistant. */
        role: string
        /** What was said. */
        content?: string
        /** Not looked at. */
        images?: string[] | null
      }>
      /** Send the answer in pieces. */
      stream?: boolean | null
      /** Not looked at. */
      options?: Record<string, unknown> | null
      /** Further instruction for the answer. */
      system?: string | null
    }
    response: Record<string, unknown>
  }
  /** Send a prompt straight to the language model, without retrieval. */
  ollama_generate: {
    method: "POST"
    path: "/api/generate"
    query: undefined
    body: {
      /** Not looked at. */
      model?: string
      /** The prompt. */
      prompt: string
      /** System prompt. */
      system?: string | null
      /** Send the answer in pieces. */
      stream?: boolean | null
      /** Not looked at. */
      options?: Record<string, unknown> | null
    }
    response: Record<string, unknown>
  }
  /** Tell how many documents a filter would leave, and name some, without asking anything. */
  preview_filter: {
    method: "POST"
    path: "/query/preview"
    query: undefined
    body: FilterFields
    response: PreviewResponse
  }
  /** Return what an answer would be based on: entities, relations, chunks and references. No model answers. */
  query_data: {
    method: "POST"
    path: "/query/data"
    query: undefined
    body: QueryRequest
    response: QueryDataResponse
  }
  /** Answer a question from the documents. The work stops when the client goes away. */
  query_text: {
    method: "POST"
    path: "/query"
    query: undefined
    body: QueryRequest
    response: QueryResponse
  }
  /** Answer a question piece by piece. The work stops when the client goes away. */
  query_text_stream: {
    method: "POST"
    path: "/query/stream"
    query: undefined
    body: QueryRequest
    response: unknown
  }
  /** Lead to the web UI, or to the documentation of the interface where there is none. */
  redirect_to_start_page: {
    method: "GET"
    path: "/"
    query: undefined
    body: undefined
    response: unknown
  }
  /** Let a source path stand for one of the documents that have it; the others are marked as its repetitions. */
  repair_source_conflict: {
    method: "POST"
    path: "/documents/source_conflicts/repair"
    query: undefined
    body: SourceConflictRepairRequest
    response: SourceConflictRepairResponse
  }
  /** Try documents that failed once more, with the metadata that they were stored with. */
  reprocess_failed_documents: {
    method: "POST"
    path: "/documents/reprocess_failed"
    query: undefined
    body: undefined
    response: ReprocessResponse
  }
  /** Try one failed document once more, with the metadata that it was stored with. */
  retry_document: {
    method: "POST"
    path: "/documents/{doc_id}/retry"
    query: undefined
    body: undefined
    response: DocStatusResponse
  }
  /** Look for new files in the input folder, and try failed documents once more. */
  scan_for_new_documents: {
    method: "POST"
    path: "/documents/scan"
    query: undefined
    body: undefined
    response: ScanResponse
  }
  /** Find entities by a part of their name, best match first. */
  search_labels: {
    method: "GET"
    path: "/graph/label/search"
    query: {
      /** Part of a name, in any case. */
      q: string
      /** Names at the most, count. */
      limit?: number
      /** Tags that documents must carry; a scope tag chooses the graph of that scope. */
      required_tags?: string[] | null
    }
    body: undefined
    response: string[]
  }
  /** Tell what the model is and can do, whichever name is asked for; chat programs ask before they offer it. */
  show_ollama_model: {
    method: "POST"
    path: "/api/show"
    query: undefined
    body: undefined
    response: Record<string, unknown>
  }
  /** Replace dates, tags or other metadata of a document; every question is limited by the new ones at once. */
  update_document_metadata: {
    method: "PATCH"
    path: "/documents/{doc_id}/metadata"
    query: undefined
    body: MetadataPatch
    response: DocStatusResponse
  }
  /** Store files and process them in the background. What is acknowledged survives a crash. */
  upload_documents: {
    method: "POST"
    path: "/documents/upload"
    query: undefined
    body: Body_upload_documents
    response: UploadResponse
  }
  /** Tell whether the credential of the request is good, also where the path would be open. */
  verify_credential: {
    method: "GET"
    path: "/auth/verify"
    query: undefined
    body: undefined
    response: VerifyResponse
  }
}

export const ROUTES = {
  cancel_pipeline: { method: "POST", path: "/documents/cancel_pipeline" },
  check_entity_exists: { method: "GET", path: "/graph/entity/exists" },
  clear_cache: { method: "POST", path: "/documents/clear_cache" },
  clear_documents: { method: "DELETE", path: "/documents" },
  create_graph_entity: { method: "POST", path: "/graph/entity/create" },
  create_graph_relation: { method: "POST", path: "/graph/relation/create" },
  delete_document: { method: "DELETE", path: "/documents/delete_document" },
  delete_graph_entity: { method: "DELETE", path: "/graph/entity/delete" },
  delete_graph_relation: { method: "DELETE", path: "/graph/relation/delete" },
  edit_graph_entity: { method: "POST", path: "/graph/entity/edit" },
  edit_graph_relation: { method: "POST", path: "/graph/relation/edit" },
  force_reset_recovery: { method: "POST", path: "/documents/recovery/force_reset" },
  get_auth_status: { method: "GET", path: "/auth-status" },
  get_document_facets: { method: "GET", path: "/documents/facets" },
  get_document_status_counts: { method: "GET", path: "/documents/status_counts" },
  get_documents_paginated: { method: "POST", path: "/documents/paginated" },
  get_filtered_graph: { method: "POST", path: "/graphs" },
  get_graph_labels: { method: "GET", path: "/graph/label/list" },
  get_health: { method: "GET", path: "/health" },
  get_knowledge_graph: { method: "GET", path: "/graphs" },
  get_metrics: { method: "GET", path: "/metrics" },
  get_ollama_running_models: { method: "GET", path: "/api/ps" },
  get_ollama_tags: { method: "GET", path: "/api/tags" },
  get_ollama_version: { method: "GET", path: "/api/version" },
  get_pipeline_status: { method: "GET", path: "/documents/pipeline_status" },
  get_popular_labels: { method: "GET", path: "/graph/label/popular" },
  get_scan_status: { method: "GET", path: "/documents/scan/status/{track_id}" },
  get_supported_file_types: { method: "GET", path: "/documents/supported_file_types" },
  get_track_status: { method: "GET", path: "/documents/track_status/{track_id}" },
  get_ui_customization: { method: "GET", path: "/ui/customization" },
  get_ui_customization_asset: { method: "GET", path: "/ui/customization/assets/{asset_hash}/{asset_id}" },
  insert_text: { method: "POST", path: "/documents/text" },
  insert_texts: { method: "POST", path: "/documents/texts" },
  list_scopes: { method: "GET", path: "/graph/scope/list" },
  list_source_conflicts: { method: "GET", path: "/documents/source_conflicts" },
  login: { method: "POST", path: "/login" },
  merge_graph_entities: { method: "POST", path: "/graph/entities/merge" },
  ollama_chat: { method: "POST", path: "/api/chat" },
  ollama_generate: { method: "POST", path: "/api/generate" },
  preview_filter: { method: "POST", path: "/query/preview" },
  query_data: { method: "POST", path: "/query/data" },
  query_text: { method: "POST", path: "/query" },
  query_text_stream: { method: "POST", path: "/query/stream" },
  redirect_to_start_page: { method: "GET", path: "/" },
  repair_source_conflict: { method: "POST", path: "/documents/source_conflicts/repair" },
  reprocess_failed_documents: { method: "POST", path: "/documents/reprocess_failed" },
  retry_document: { method: "POST", path: "/documents/{doc_id}/retry" },
  scan_for_new_documents: { method: "POST", path: "/documents/scan" },
  search_labels: { method: "GET", path: "/graph/label/search" },
  show_ollama_model: { method: "POST", path: "/api/show" },
  update_document_metadata: { method: "PATCH", path: "/documents/{doc_id}/metadata" },
  upload_documents: { method: "POST", path: "/documents/upload" },
  verify_credential: { method: "GET", path: "/auth/verify" },
} as const
