import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
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

export function useDocuments(request: PaginatedRequest, busy: boolean) {
  return useQuery({
    queryKey: [...DOCUMENTS_KEY, request],
    queryFn: ({ signal }) => getDocumentsPaginated(request, signal),
    placeholderData: keepPreviousData,
    refetchInterval: busy ? 2000 : 15_000,
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
