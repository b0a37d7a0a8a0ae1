import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { getDocumentsPaginated } from '@/api/lightrag'
import { DocumentDates } from '@/components/document-dates'
import { TagList } from '@/components/tags'
import { Skeleton } from '@/components/ui/feedback'
import { getDocumentTitle } from '@/lib/documentMetadata'

/** The documents that say something of an entity or relation, with their dates and tags. */
export function Evidence({ docIds, paths }: { docIds: string[]; paths: string[] }) {
  const { t } = useTranslation()
  const asked = docIds.slice(0, 100)
  const documents = useQuery({
    queryKey: ['documents', 'evidence', asked],
    queryFn: async ({ signal }) => (await getDocumentsPaginated({ search_filters: { document_ids: asked }, page_size: 200 }, signal)).documents,
    enabled: asked.length > 0,
    staleTime: 60_000,
  })
  if (asked.length && documents.isPending) return <Skeleton className="h-20" />
  if (!documents.data?.length) {
    return (
      <ul className="flex flex-col gap-1 text-xs text-muted">
        {paths.map((path) => (
          <li key={path} className="break-words" dir="ltr">{path}</li>
        ))}
        {paths.length ? null : <li>{t('graphPanel.noEvidence')}</li>}
      </ul>
    )
  }
  return (
    <ul className="flex flex-col gap-1.5" data-testid="evidence">
      {documents.data.map((one) => (
        <li key={one.id}>
          <Link to={`/documents?${new URLSearchParams({ doc: one.id })}`} className="block rounded-xl border px-3 py-2 hover:border-brand/60">
            <span className="block truncate text-[0.8125rem] font-medium"><bdi>{getDocumentTitle(one)}</bdi></span>
            <DocumentDates start={one.start_date} end={one.end_date} className="block text-xs text-muted" />
            <TagList tags={one.tags ?? []} limit={4} className="mt-1" />
          </Link>
        </li>
      ))}
    </ul>
  )
}
