import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '@/components/ui/button'
import { cn } from '@/lib/cn'
import { Evidence as EvidenceList } from './evidence'
import { beyond, type Evidence } from './graph-data'

/** The panel beside the graph, below it on a phone. */
export function Frame({ title, kind, onClose, actions, children }: { title: ReactNode; kind: ReactNode; onClose: () => void; actions: ReactNode; children: ReactNode }) {
  const { t } = useTranslation()
  return (
    <aside aria-label={t('graphPanel.details')} data-testid="object-panel" className="absolute inset-x-2 bottom-2 z-10 flex max-h-[60%] flex-col overflow-hidden rounded-2xl border bg-raised shadow-float md:inset-x-auto md:end-3 md:top-3 md:bottom-3 md:max-h-none md:w-88">
      <header className="flex items-start gap-2 px-4 pt-3.5 pb-2">
        <div className="min-w-0 flex-1">
          <p className="text-xs font-medium text-muted">{kind}</p>
          <h2 className="text-base leading-snug font-semibold break-words">{title}</h2>
        </div>
        <Button variant="ghost" size="icon-small" aria-label={t('action.close')} onClick={onClose}>
          <X />
        </Button>
      </header>
      <div className="flex flex-wrap items-center gap-1.5 px-4 pb-3">{actions}</div>
      <div className="flex min-h-0 flex-1 flex-col gap-5 overflow-y-auto border-t px-4 py-4" tabIndex={0} role="group" aria-label={t('graphPanel.details')}>{children}</div>
    </aside>
  )
}

export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h3 className="mb-1.5 text-xs font-semibold text-muted">{title}</h3>
      {children}
    </section>
  )
}

function Descriptions({ texts }: { texts: string[] }) {
  const { t } = useTranslation()
  if (!texts.length) return <p className="text-sm text-muted italic">{t('graphPanel.noDescription')}</p>
  return (
    <div className="flex flex-col gap-2 text-sm leading-relaxed" dir="auto">
      {texts.map((text) => (
        <p key={text} className="break-words">{text}</p>
      ))}
    </div>
  )
}

function Facts({ evidence }: { evidence: Evidence }) {
  const { t } = useTranslation()
  return (
    <>
      <Section title={t('graphPanel.description')}><Descriptions texts={evidence.descriptions} /></Section>
      <Section title={t('graphPanel.evidence', { count: Math.max(evidence.docIds.length, evidence.paths.length) })}><EvidenceList docIds={evidence.docIds} paths={evidence.paths} /></Section>
    </>
  )
}

interface KnowledgeProps {
  /** What is known of the object in the graph that is shown. */
  evidence: Evidence
  /** What a scope knows of it where both are compared: `null` is nothing. */
  known?: Evidence | null
  scope: string | null
}

/** What is said of an object and by which documents; in a comparison what a scope knows, and below it what it does not know yet. */
export function Knowledge({ evidence, known, scope }: KnowledgeProps) {
  const { t } = useTranslation()
  if (known === undefined) return <Facts evidence={evidence} />
  const more = known ? beyond(evidence, known) : evidence
  const nothing = more.docIds.length + more.descriptions.length === 0
  return (
    <>
      {known ? (
        <div className="flex flex-col gap-4" data-testid="known">
          <p className="text-[0.8125rem] font-semibold"><bdi>{t('graphPanel.knownIn', { scope })}</bdi></p>
          <Facts evidence={known} />
        </div>
      ) : null}
      <div className={cn('flex flex-col gap-4 rounded-xl', !nothing && 'border border-filter-line bg-filter/40 p-3')} data-testid="unknown">
        <p className={cn('text-[0.8125rem] font-semibold', nothing ? 'text-muted' : 'text-filter-ink')}>{nothing ? t('graphPanel.allKnown') : t('graphPanel.unknownIn')}</p>
        {nothing ? null : <Facts evidence={more} />}
      </div>
    </>
  )
}
