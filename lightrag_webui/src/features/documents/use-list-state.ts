import { useSearchParams } from 'react-router'
import type { PaginatedRequest } from '@/api/lightrag'
import { filterFault, toPayload } from '@/lib/filters'
import { useSettled } from '@/lib/queries'
import { useChangeParams, useFilter, useParam } from '@/lib/use-filter'
import type { Sorting, SortField } from './document-table'
import { STATES_OF, toStateFilter } from './document-toolbar'
import { PAGE_SIZES } from './pager'

const FIELDS: SortField[] = ['updated_at', 'created_at', 'file_path', 'id']

function order(params: URLSearchParams): { field: SortField; direction: 'asc' | 'desc' } {
  const field = FIELDS.find((one) => one === params.get('sort')) ?? 'updated_at'
  return { field, direction: params.get('dir') === 'asc' ? 'asc' : 'desc' }
}

/** What the list shows, all of it in the address: filter, state, text, order, page. */
export function useListState() {
  const [params] = useSearchParams()
  const change = useChangeParams()
  const [filter, setFilter] = useFilter()
  const [text, setText] = useParam('q')
  const [state, setState] = useParam('state', 'all')
  const [size, setSize] = useParam('size', '50')
  const [page, setPage] = useParam('page', '1')
  const [opened, setOpened] = useParam('doc')
  const wanted = useSettled(text.trim(), 250)

  const { field, direction } = order(params)
  const pageSize = PAGE_SIZES.find((one) => one === Number(size)) ?? 50
  const pageNumber = Math.max(1, Math.floor(Number(page)) || 1)
  const states = STATES_OF[toStateFilter(state)]

  const request: PaginatedRequest = {
    ...(filterFault(filter) ? {} : toPayload(filter)),
    page: pageNumber,
    page_size: pageSize,
    sort_field: field,
    sort_direction: direction,
    ...(wanted ? { search: wanted } : {}),
    ...(states ? { status_filters: [...states] } : {}),
  }
  const sorting: Sorting = {
    field,
    direction,
    onSort: (next) =>
      change((now) => {
        const before = order(now)
        now.set('sort', next)
        now.set('dir', next === before.field ? (before.direction === 'asc' ? 'desc' : 'asc') : next === 'file_path' ? 'asc' : 'desc')
        now.delete('page')
        return now
      }),
  }
  return {
    request, sorting, filter, setFilter, text, setText, opened, setOpened,
    state: toStateFilter(state), setState,
    page: pageNumber, setPage: (value: number) => setPage(String(value)),
    size: pageSize, setSize: (value: number) => setSize(String(value)),
  }
}
