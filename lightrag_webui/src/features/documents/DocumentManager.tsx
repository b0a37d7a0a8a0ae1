import { FileSearch, FileText, Trash2, UploadCloud } from 'lucide-react'
import { useCallback, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
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
import { SEARCHED_MAX, useAllDocuments, useDocument, useDocuments, useFreshCounts, usePipeline } from './use-documents'
import { useListState } from './use-list-state'

const NO_DOCUMENTS: DocStatusResponse[] = []

/** The documents: taking in, finding, following, changing, deleting. */
export default function DocumentManager() {
  const { t } = useTranslation()
  const list = useListState()
  const pipeline = usePipeline()
  const documents = useDocuments(list.request)
  useFreshCounts(documents.data?.status_counts['processed'])
  const everything = useAllDocuments({ ...list.request, page: 1, page_size: 200 }, list.wanted !== '')
  const [dialog, setDialog] = useState<'upload' | 'filter' | 'log' | 'clear' | null>(null)
  const [editing, setEditing] = useState<DocStatusResponse | null>(null)
  const [deleting, setDeleting] = useState<string[]>([])
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())

  const all = documents.data?.documents ?? NO_DOCUMENTS
  const found = useMemo(() => (list.wanted && everything.data ? chooseByText(everything.data.documents, list.wanted) : null), [everything.data, list.wanted])
  const shown = found ? found.slice((list.page - 1) * list.size, list.page * list.size) : all
  const inList = all.find((one) => one.id === list.opened)
  const single = useDocument(inList ? '' : list.opened)

  const select = useCallback((id: string, on: boolean) => {
    setSelected((before) => {
      const next = new Set(before)
      if (on) next.add(id)
      else next.delete(id)
      return next
    })
  }, [])

  const counts = documents.data?.status_counts ?? {}
  const total = found ? found.length : (documents.data?.pagination.total_count ?? 0)
  const narrowed = isActive(list.filter) || list.state !== 'all' || Boolean(list.text)

  return (
    <div className="flex h-full flex-col">
      <DocumentToolbar
        counts={counts}
        state={list.state}
        onState={list.setState}
        text={list.text}
        onText={list.setText}
        filtered={isActive(list.filter)}
        onFilter={() => setDialog('filter')}
        onUpload={() => setDialog('upload')}
        onLog={() => setDialog('log')}
        onClearAll={() => setDialog('clear')}
      />
      {isActive(list.filter) ? (
        <div className="flex flex-col gap-1.5 px-4 pb-3">
          <FilterChips state={list.filter} onChange={list.setFilter} onOpen={() => setDialog('filter')} />
          <PreviewLine state={list.filter} />
        </div>
      ) : null}
      {found && everything.data?.cut ? <p className="px-4 pb-2 text-xs text-muted">{t('documents.searchCut', { count: SEARCHED_MAX })}</p> : null}
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
      {documents.error ? <ErrorNote error={documents.error} className="m-4" onRetry={() => void documents.refetch()} /> : null}
      {documents.isPending && !documents.error ? <Rows /> : null}
      {documents.data && shown.length === 0 ? (
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
          stale={documents.isPlaceholderData || (list.wanted !== '' && everything.isFetching && !found)}
          sorting={list.sorting}
          onSelect={select}
          onSelectAll={(on) => setSelected(on ? new Set(shown.map((one) => one.id)) : new Set())}
          onOpen={list.setOpened}
          onEdit={setEditing}
          onDelete={setDeleting}
        />
      ) : null}
      {total ? <Pager page={list.page} pages={Math.ceil(total / list.size)} size={list.size} total={total} onPage={list.setPage} onSize={list.setSize} /> : null}

      <UploadDocumentsDialog open={dialog === 'upload'} onOpenChange={(open) => setDialog(open ? 'upload' : null)} />
      <Dialog open={dialog === 'filter'} layout="side" className="sm:max-w-md" onOpenChange={(open) => setDialog(open ? 'filter' : null)} title={t('filter.title')} description={t('filter.text')} footer={<PreviewLine state={list.filter} className="me-auto" />}>
        <FilterPanel state={list.filter} onChange={list.setFilter} />
      </Dialog>
      {pipeline.data ? <PipelineLog status={pipeline.data} open={dialog === 'log'} onOpenChange={(open) => setDialog(open ? 'log' : null)} /> : null}
      <ClearAllDialog open={dialog === 'clear'} count={counts['all'] ?? 0} onOpenChange={(open) => setDialog(open ? 'clear' : null)} />
      {list.opened ? <DocumentStatusDetailsDialog document={inList ?? single.data} onClose={() => list.setOpened('')} onEdit={setEditing} onDelete={setDeleting} /> : null}
      {editing ? <EditMetadataDialog key={editing.id} document={editing} onClose={() => setEditing(null)} /> : null}
      <DeleteDialog ids={deleting} onClose={(deleted) => {
        setDeleting([])
        if (!deleted) return
        setSelected(new Set())
        list.setOpened('')
      }} />
    </div>
  )
}

function chooseByText(documents: DocStatusResponse[], text: string): DocStatusResponse[] {
  const wanted = text.toLowerCase()
  if (!wanted) return documents
  return documents.filter((one) => [getDocumentTitle(one), one.file_path, one.content_summary, ...(one.tags ?? [])].some((part) => part.toLowerCase().includes(wanted)))
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
