import { FileSearch, FileText, Trash2, UploadCloud } from 'lucide-react'
import { useCallback, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '@/api/http'
import type { DocStatusResponse } from '@/api/lightrag'
import { FilterChips } from '@/components/filters/chips'
import { FilterPanel } from '@/components/filters/filter-panel'
import { PreviewLine } from '@/components/filters/preview-line'
import { Button } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { EmptyState, ErrorNote, Skeleton } from '@/components/ui/feedback'
import { getDocumentTitle } from '@/lib/documentMetadata'
import { emptyFilter, isActive } from '@/lib/filters'
import { ClearAllDialog, DeleteDialog } from './delete-dialogs'
import { DocumentStatusDetailsDialog } from './DocumentStatusDetailsDialog'
import { DocumentTable } from './document-table'
import { DocumentToolbar } from './document-toolbar'
import { EditMetadataDialog } from './edit-metadata-dialog'
import { Pager } from './pager'
import { PipelineLog, PipelineStrip } from './pipeline-strip'
import { UploadDocumentsDialog } from './UploadDocumentsDialog'
import { useDocument, useDocuments, useFreshCounts, usePipeline, useRetry } from './use-documents'
import { useFileDrop } from './use-file-drop'
import { useListState } from './use-list-state'

const NO_DOCUMENTS: DocStatusResponse[] = []
const NO_FILES: File[] = []
const NO_IDS: string[] = []

/** The documents: taking in, finding, following, changing, deleting. */
export default function DocumentManager() {
  const { t } = useTranslation()
  const list = useListState()
  const pipeline = usePipeline()
  const documents = useDocuments(list.request)
  useFreshCounts(documents.data?.status_counts['processed'])
  const retry = useRetry()
  const [dialog, setDialog] = useState<'upload' | 'filter' | 'log' | 'clear' | null>(null)
  const [dropped, setDropped] = useState<File[]>(NO_FILES)
  const [editing, setEditing] = useState<DocStatusResponse | null>(null)
  const [deleting, setDeleting] = useState<string[]>(NO_IDS)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())

  const shown = documents.data?.documents ?? NO_DOCUMENTS
  const inList = shown.find((one) => one.id === list.opened)
  const single = useDocument(inList ? '' : list.opened)

  const drop = useFileDrop((files) => {
    setDropped(files)
    setDialog('upload')
  })

  const select = useCallback((id: string, on: boolean) => {
    setSelected((before) => {
      const next = new Set(before)
      if (on) next.add(id)
      else next.delete(id)
      return next
    })
  }, [])

  const counts = documents.data?.status_counts ?? {}
  const total = documents.data?.pagination.total_count ?? 0
  const pages = Math.ceil(total / list.size)
  const filtered = isActive(list.filter)
  const narrowed = filtered || list.state !== 'all' || Boolean(list.text)
  const { page, setPage } = list
  // An address may name a page that has gone since.
  const beyond = !documents.isPlaceholderData && pages > 0 && page > pages
  useEffect(() => {
    if (beyond) setPage(pages)
  }, [beyond, pages, setPage])

  return (
    <div className="relative flex h-full flex-col" {...drop.handlers}>
      {drop.over ? <DropCurtain /> : null}
      <DocumentToolbar
        // They count all documents, so beside a filtered list they would say the wrong thing.
        counts={documents.data && !filtered && !list.text ? counts : null}
        failed={counts['failed'] ?? 0}
        empty={!counts['all']}
        state={list.state}
        onState={list.setState}
        text={list.text}
        onText={list.setText}
        filtered={filtered}
        onFilter={() => setDialog('filter')}
        onUpload={() => setDialog('upload')}
        onLog={() => setDialog('log')}
        onClearAll={() => setDialog('clear')}
      />
      {filtered ? (
        <div className="flex flex-col gap-1.5 px-4 pb-3">
          <FilterChips state={list.filter} onChange={list.setFilter} onOpen={() => setDialog('filter')} />
          <PreviewLine state={list.filter} />
        </div>
      ) : null}
      <PipelineStrip status={pipeline.data} />
      {selected.size ? (
        <div className="flex items-center gap-3 border-y bg-brand-soft px-4 py-2 text-sm font-medium">
          <span className="me-auto">{t('documents.selected', { count: selected.size })}</span>
          <Button size="small" variant="ghost" onClick={() => setSelected(new Set())}>{t('documents.selectNone')}</Button>
          <Button size="small" variant="danger" onClick={() => setDeleting([...selected])}>
            <Trash2 />
            {t('action.delete')}
          </Button>
        </div>
      ) : null}
      {documents.error && !(documents.data && documents.error instanceof ApiError && documents.error.isOffline) ? <ErrorNote error={documents.error} className="m-4" onRetry={() => void documents.refetch()} /> : null}
      {documents.isPending && !documents.error ? <Rows /> : null}
      {documents.data && shown.length === 0 && !beyond ? (
        <div className="min-h-0 flex-1 overflow-y-auto">
          {narrowed ? (
            <EmptyState icon={FileSearch} title={t('documents.noneMatch')}>
              <Button onClick={() => { list.setFilter(emptyFilter(list.filter.zone)); list.setState('all'); list.setText('') }}>{t('filter.clearAll')}</Button>
            </EmptyState>
          ) : (
            <EmptyState icon={FileText} title={t('documents.none')}>
              {t('documents.noneText')}
              <Button variant="primary" onClick={() => setDialog('upload')}>
                <UploadCloud />
                {t('upload.open')}
              </Button>
            </EmptyState>
          )}
        </div>
      ) : null}
      {shown.length ? (
        <DocumentTable
          // Another page begins at its top.
          key={`${list.page}/${list.size}`}
          documents={shown}
          total={total}
          selected={selected}
          stale={documents.isPlaceholderData}
          sorting={list.sorting}
          onSelect={select}
          onSelectAll={(on) => setSelected(on ? new Set(shown.map((one) => one.id)) : new Set())}
          onOpen={list.setOpened}
          onEdit={setEditing}
          onDelete={setDeleting}
          onRetry={retry.mutate}
        />
      ) : null}
      {total ? <Pager page={list.page} pages={pages} size={list.size} total={total} onPage={list.setPage} onSize={list.setSize} /> : null}

      <UploadDocumentsDialog open={dialog === 'upload'} dropped={dropped} onOpenChange={(open) => setDialog(open ? 'upload' : null)} />
      <Dialog open={dialog === 'filter'} layout="side" className="sm:max-w-md" onOpenChange={(open) => setDialog(open ? 'filter' : null)} title={t('filter.title')} description={t('filter.text')} footer={<PreviewLine state={list.filter} className="me-auto" />}>
        <FilterPanel state={list.filter} onChange={list.setFilter} />
      </Dialog>
      {pipeline.data ? <PipelineLog status={pipeline.data} open={dialog === 'log'} onOpenChange={(open) => setDialog(open ? 'log' : null)} /> : null}
      <ClearAllDialog open={dialog === 'clear'} count={counts['all'] ?? 0} onOpenChange={(open) => setDialog(open ? 'clear' : null)} />
      {list.opened ? <DocumentStatusDetailsDialog document={inList ?? single.data} onClose={() => list.setOpened('')} onEdit={setEditing} onDelete={setDeleting} onRetry={retry.mutate} /> : null}
      {editing ? <EditMetadataDialog key={editing.id} document={editing} onClose={() => setEditing(null)} /> : null}
      <DeleteDialog ids={deleting} name={nameOf(deleting, [...shown, single.data])} onClose={(deleted) => {
        setDeleting(NO_IDS)
        if (!deleted) return
        setSelected(new Set())
        list.setOpened('')
      }} />
    </div>
  )
}

/** The title of the one document that is meant. */
function nameOf(ids: string[], known: Array<DocStatusResponse | null | undefined>): string {
  const one = ids.length === 1 ? known.find((document) => document?.id === ids[0]) : null
  return one ? getDocumentTitle(one) : ''
}

function DropCurtain() {
  const { t } = useTranslation()
  return (
    <div className="pointer-events-none absolute inset-2 z-30 flex flex-col items-center justify-center gap-3 rounded-2xl border-2 border-dashed border-brand bg-brand-soft/95 text-brand-ink">
      <UploadCloud className="size-9" aria-hidden />
      <p className="text-base font-semibold">{t('upload.dropToUpload')}</p>
    </div>
  )
}

function Rows() {
  return (
    <div className="flex flex-col gap-3 p-4" aria-busy>
      {Array.from({ length: 8 }, (_none, index) => (
        <Skeleton key={index} className="h-12" />
      ))}
    </div>
  )
}
