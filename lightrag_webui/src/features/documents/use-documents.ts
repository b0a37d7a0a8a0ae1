import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { toast } from 'sonner'
import { cancelPipeline, clearDocuments, deleteDocuments, getDocumentsPaginated, getPipelineStatus, reprocessFailed, retryDocument, scanForNewDocuments, type PaginatedRequest } from '@/api/lightrag'
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
export const useRetry = () => {
  const { t } = useTranslation()
  return useAction<string>(async (id) => {
    await retryDocument(id)
    return { message: t('documents.retried') }
  })
}
export const useCancel = () => useAction<void>(() => cancelPipeline())
export const useClearAll = () => useAction<void>(() => clearDocuments())
export const useDelete = () => useAction<{ ids: string[]; files: boolean }>(({ ids, files }) => deleteDocuments(ids, files))
