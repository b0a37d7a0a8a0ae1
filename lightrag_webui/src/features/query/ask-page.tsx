import { ArrowDown, History, PanelRightClose, PanelRightOpen, SquarePen } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { Popover } from '@/components/ui/overlay'
import { filterQuery, readFilter } from '@/lib/filter-url'
import { useWide } from '@/lib/queries'
import { useStored } from '@/lib/stored'
import { useFilter, useParam } from '@/lib/use-filter'
import { Composer } from './composer'
import type { Message } from './conversation'
import { ConversationList } from './conversation-list'
import { MessageView } from './message-view'
import { QuerySettings } from './QuerySettings'
import { asSettings, buildRequest, DEFAULT_SETTINGS, toMode, type Mode } from './settings'
import { useAsk } from './use-ask'
import { useEnd } from './use-end'
import { Welcome } from './welcome'

const asDocked = (value: unknown) => value !== false

/** Questions and answers, with what limits them beside. */
export default function AskPage() {
  const { t } = useTranslation()
  const wide = useWide(1024)
  const [filter, setFilter] = useFilter()
  const [modeParam, setMode] = useParam('mode', 'mix')
  const mode = toMode(modeParam)
  const [settings, setSettings] = useStored('lightrag.answer', DEFAULT_SETTINGS, asSettings)
  const [docked, setDocked] = useStored('lightrag.panel', true, asDocked)
  const [sheet, setSheet] = useState(false)
  const [history, setHistory] = useState(false)
  const { conversation, running, ask, stop, remove, open } = useAsk()
  const box = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const { atEnd, toEnd } = useEnd(box, content)
  const count = conversation.messages.length

  useEffect(toEnd, [count, conversation.id, toEnd])

  const turns = conversation.messages.filter((one) => one.state === 'done').map((one) => ({ question: one.question, answer: one.answer }))
  const send = (question: string) => void ask(buildRequest(question, mode, settings, filter, turns), filterQuery(filter))
  const again = (message: Message) => {
    const before = turns.slice(0, conversation.messages.filter((one) => one.state === 'done' && one.at < message.at).length)
    void ask(buildRequest(message.question, toMode(message.mode), settings, readFilter(new URLSearchParams(message.filter)), before), message.filter)
  }
  const togglePanel = () => (wide ? setDocked((before) => !before) : setSheet(true))
  const panel = <QuerySettings filter={filter} onFilter={setFilter} mode={mode} onMode={(value: Mode) => setMode(value)} settings={settings} onSettings={setSettings} />

  return (
    <div className="flex h-full">
      <section className="flex min-w-0 flex-1 flex-col">
        <div className="flex shrink-0 items-center gap-1 px-3 py-2">
          <Popover
            open={history}
            onOpenChange={setHistory}
            className="w-96 p-2"
            trigger={
              <Button variant="ghost" size="small" className="text-muted">
                <History />
                {t('ask.history')}
              </Button>
            }
          >
            <ConversationList current={conversation.id} onOpen={(one) => { open(one); setHistory(false) }} />
          </Popover>
          <Button variant="ghost" size="small" className="text-muted" disabled={!count} onClick={() => open(null)}>
            <SquarePen />
            {t('ask.new')}
          </Button>
          <span className="flex-1" />
          <Button variant="ghost" size="icon-small" className="text-muted rtl:-scale-x-100" aria-label={t('ask.panel')} aria-expanded={wide ? docked : sheet} onClick={togglePanel}>
            {docked && wide ? <PanelRightClose /> : <PanelRightOpen />}
          </Button>
        </div>
        <div ref={box} className="min-h-0 flex-1 overflow-y-auto px-4" tabIndex={0} role="log" aria-label={t('ask.conversation')}>
          <div ref={content} className="mx-auto flex w-full max-w-3xl flex-col gap-10 pt-2 pb-8">
            {count ? conversation.messages.map((message) => <MessageView key={message.id} message={message} onRetry={again} onRemove={remove} onUseFilter={(query) => setFilter(readFilter(new URLSearchParams(query)))} />) : <Welcome onAsk={send} />}
          </div>
        </div>
        {atEnd || !count ? null : (
          <div className="relative h-0">
            <Button size="icon" className="absolute start-1/2 bottom-3 z-10 -translate-x-1/2 rounded-full shadow-float rtl:translate-x-1/2" aria-label={t('ask.toEnd')} title={t('ask.toEnd')} onClick={toEnd}>
              <ArrowDown />
            </Button>
          </div>
        )}
        <Composer filter={filter} onFilter={setFilter} mode={mode} onMode={(value) => setMode(value)} running={running} onAsk={send} onStop={stop} onPanel={togglePanel} panelOpen={wide ? docked : sheet} />
      </section>
      {wide && docked ? (
        <aside aria-label={t('ask.panel')} className="w-88 shrink-0 overflow-y-auto border-s bg-surface px-5 py-4 xl:w-96">
          {panel}
        </aside>
      ) : null}
      {wide ? null : (
        <Dialog open={sheet} onOpenChange={setSheet} layout="side" title={t('ask.panel')}>
          {panel}
        </Dialog>
      )}
    </div>
  )
}
