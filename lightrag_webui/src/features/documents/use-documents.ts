import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { toast } from 'sonner'
import { cancelPipeline, clearDocuments, deleteDocuments, getDocumentsPaginated, getPipelineStatus, reprocessFailed, scanForNewDocuments, type PaginatedRequest } from '@/api/lightrag'
import { errorText } from '@/lib/errors'

export const DOCUMENTS_KEY = ['documents']

export function usePipeline() {
  return useQuery({
    queryKey: ['pipeline'],
    queryFn: getPipelineStatus,
    refetchInterval: (query) => (query.state.data?.busy || query.state.data?.scanning || query.state.data?.pending_enqueues ? 1200 : 5000),
  })
}

const UNFINISHED = ['pending', 'parsing', 'analyzing', 'processing']

export function useDocuments(request: PaginatedRequest) {
  return useQuery({
    queryKey: [...DOCUMENTS_KEY, request],
    queryFn: ({ signal }) => getDocumentsPaginated(request, signal),
    placeholderData: keepPreviousData,
    refetchInterval: (query) => {
      const counts = query.state.data?.status_counts ?? {}
      return UNFINISHED.some((state) => counts[state]) ? 1500 : 12_000
    },
  })
}

/** Documents that a search by text looks through at the most. */
export const SEARCHED_MAX = 10_000
const SEARCH_PAGE = 200

/** All documents that a request lists, page after page: the server cannot search by text, so the page does. */
export function useAllDocuments(request: PaginatedRequest, enabled: boolean) {
  return useQuery({
    queryKey: [...DOCUMENTS_KEY, 'all', request],
    enabled,
    staleTime: 30_000,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const fetchPage = (page: number) => getDocumentsPaginated({ ...request, page, page_size: SEARCH_PAGE }, signal)
      const first = await fetchPage(1)
      const pages = Math.min(first.pagination.total_pages, SEARCHED_MAX / SEARCH_PAGE)
      const documents = [...first.documents]
      for (let page = 2; page <= pages; page += 4) {
        const numbers = [page, page + 1, page + 2, page + 3].filter((one) => one <= pages)
        for (const part of await Promise.all(numbers.map(fetchPage))) documents.push(...part.documents)
      }
      return { documents, cut: first.pagination.total_count > SEARCHED_MAX }
    },
  })
}

/** One document by its id, wherever it is in the list. */
export function useDocument(id: string) {
  return useQuery({
    queryKey: [...DOCUMENTS_KEY, 'one', id],
    queryFn: async ({ signal }) => (await getDocumentsPaginated({ search_filters: { document_ids: [id] }, page_size: 10 }, signal)).documents[0] ?? null,
    enabled: Boolean(id),
  })
}

/** When the last document has been read, tags, types and counts are others than before. */
export function useFreshCounts(finished: number | undefined) {
  const client = useQueryClient()
  useEffect(() => {
    if (finished === undefined) return
    for (const key of ['facets', 'preview', 'scopes', 'graph']) void client.invalidateQueries({ queryKey: [key] })
  }, [client, finished])
}

/** Makes everything that counts documents ask again. */
export function useRefresh() {
  const client = useQueryClient()
  return () => {
    for (const key of ['documents', 'pipeline', 'facets', 'preview']) void client.invalidateQueries({ queryKey: [key] })
  }
}

function useAction<T>(action: (value: T) => Promise<{ message: string; status?: string }>) {
  const { t } = useTranslation()
  const refresh = useRefresh()
  return useMutation({
    mutationFn: action,
    onSuccess: (reply) => {
      if (reply.status === 'busy' || reply.status === 'fail' || reply.status === 'not_allowed') toast.error(reply.message)
      else toast.success(reply.message)
      refresh()
    },
    onError: (error) => toast.error(errorText(error, t)),
  })
}

export const useScan = () => useAction<void>(() => scanForNewDocuments())
export const useRetryFailed = () => useAction<void>(() => reprocessFailed())
export const useCancel = () => useAction<void>(() => cancelPipeline())
export const useClearAll = () => useAction<void>(() => clearDocuments())
export const useDelete = () => useAction<{ ids: string[]; files: boolean }>(({ ids, files }) => deleteDocuments(ids, files))
