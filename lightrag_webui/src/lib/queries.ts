/** What several pages ask the server for. */

import { keepPreviousData, QueryClient, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiError } from '@/api/http'
import { getFacets, getHealth, previewFilter, type FilterPayload } from '@/api/lightrag'
import { filterFault, toPayload, type FilterState } from './filters'

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      refetchOnWindowFocus: true,
      // What the browser thinks of the network says nothing of a server on the same machine.
      networkMode: 'always',
      // What the server refuses it refuses again; only when nothing came back another try is worth it.
      retry: (count, error) => error instanceof ApiError && error.isOffline && count < 1,
    },
    mutations: { networkMode: 'always' },
  },
})

export function useHealth() {
  return useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => getHealth(signal),
    refetchInterval: (query) => (query.state.status === 'error' ? 3000 : 15_000),
    retry: false,
  })
}

/** Counts of what can be filtered by: of all documents, or of those that a filter leaves. */
export function useFacets(filter: FilterPayload = {}, enabled = true) {
  return useQuery({
    queryKey: ['facets', filter],
    queryFn: ({ signal }) => getFacets(filter, signal),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
    enabled,
  })
}

/** How many documents a filter leaves, asked a moment after the last change. */
export function usePreview(state: FilterState) {
  const payload = toPayload(state)
  const settled = useSettled(JSON.stringify(payload), 250)
  return useQuery({
    queryKey: ['preview', settled],
    queryFn: ({ signal }) => previewFilter(JSON.parse(settled) as FilterPayload, signal),
    placeholderData: keepPreviousData,
    enabled: filterFault(state) === null,
  })
}

/** A value once it has stayed the same for a while. */
export function useSettled<T>(value: T, milliseconds: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds)
    return () => clearTimeout(timer)
  }, [value, milliseconds])
  return settled
}

/** Whether the page is at least so wide. */
export function useWide(pixels: number): boolean {
  const [wide, setWide] = useState(() => window.matchMedia(`(min-width: ${pixels}px)`).matches)
  useEffect(() => {
    const media = window.matchMedia(`(min-width: ${pixels}px)`)
    const update = () => setWide(media.matches)
    media.addEventListener('change', update)
    return () => media.removeEventListener('change', update)
  }, [pixels])
  return wide
}
