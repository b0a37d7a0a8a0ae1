import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { getDocumentsPaginated, type DocStatusResponse, type Reference } from '@/api/lightrag'
import { DocumentDates } from '@/components/document-dates'
import { cn } from '@/lib/cn'
import { getDocumentTitle } from '@/lib/documentMetadata'

/** The documents behind references, by path: their titles, dates and tags. */
export function useReferencedDocuments(references: readonly Reference[]) {
  const paths = [...new Set(references.map((one) => one.file_path))].filter(Boolean).sort().slice(0, 100)
  return useQuery({
    queryKey: ['documents', 'referenced', paths],
    queryFn: async ({ signal }) => {
      const page = await getDocumentsPaginated({ path_prefixes: paths, page_size: 200 }, signal)
      return Object.fromEntries(page.documents.map((one) => [one.file_path, one])) as Record<string, DocStatusResponse>
    },
    enabled: paths.length > 0,
    staleTime: 60_000,
  })
}

interface ReferenceListProps {
  references: Reference[]
  cited: ReadonlySet<string>
  documents: Record<string, DocStatusResponse>
  onOpen: (id: string) => void
}

/** The sources of an answer: those that it names first, the others quieter. */
export function ReferenceList({ references, cited, documents, onOpen }: ReferenceListProps) {
  const { t } = useTranslation()
  if (!references.length) return null
  const sorted = [...references].sort((a, b) => Number(cited.has(b.reference_id)) - Number(cited.has(a.reference_id)))
  return (
    <section aria-label={t('ask.references')}>
      <h3 className="mb-2 text-xs font-semibold text-muted">{t('ask.references')}</h3>
      <ul className="grid gap-2 sm:grid-cols-2">
        {sorted.map((one) => {
          const document = documents[one.file_path]
          return (
            <li key={one.reference_id} className="min-w-0">
              <button
                type="button"
                data-testid="reference"
                className={cn('flex w-full min-w-0 gap-2.5 rounded-xl border bg-surface p-2.5 text-start shadow-card transition-colors hover:border-brand/60', !cited.has(one.reference_id) && 'bg-transparent shadow-none')}
                onClick={() => onOpen(one.reference_id)}
              >
                <span className="flex h-5 min-w-5 items-center justify-center rounded-md bg-brand-soft px-1 text-xs font-semibold text-brand-ink">{one.reference_id}</span>
                <span className="min-w-0 flex-1">
                  <span className="block truncate text-[0.8125rem] font-medium">
                    <bdi>{getDocumentTitle(document ?? one)}</bdi>
                  </span>
                  {document ? <DocumentDates start={document.start_date} end={document.end_date} className="block truncate text-xs text-muted" /> : <bdi dir="ltr" className="block truncate text-xs text-muted">{one.file_path}</bdi>}
                </span>
              </button>
            </li>
          )
        })}
      </ul>
    </section>
  )
}
