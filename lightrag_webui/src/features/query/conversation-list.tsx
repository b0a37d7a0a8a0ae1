import { Trash2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '@/components/ui/button'
import { cn } from '@/lib/cn'
import { formatMoment } from '@/lib/format'
import { useStored } from '@/lib/stored'
import type { Conversation } from './conversation'
import { asConversations, conversationsName, NO_CONVERSATIONS } from './kept'

/** Earlier conversations. They are kept in this browser and nowhere else. */
export function ConversationList({ current, onOpen }: { current: string; onOpen: (conversation: Conversation) => void }) {
  const { t, i18n } = useTranslation()
  const [all, setAll] = useStored(conversationsName(), NO_CONVERSATIONS, asConversations)
  if (!all.length) return <p className="p-3 text-sm leading-relaxed text-muted">{t('ask.historyNone')}</p>
  return (
    <div className="flex flex-col">
      <ul className="flex max-h-96 flex-col overflow-y-auto">
        {all.map((one) => (
          <li key={one.id} className={cn('group flex items-center rounded-lg', one.id === current ? 'bg-brand-soft' : 'hover:bg-sunken')}>
            <button type="button" className="min-w-0 flex-1 rounded-lg px-2.5 py-2 text-start" onClick={() => onOpen(one)}>
              <bdi className="block truncate text-sm">{one.title}</bdi>
              <span className="text-xs text-muted">{formatMoment(new Date(one.at).toISOString(), i18n.language)}</span>
            </button>
            <Button variant="ghost" size="icon-small" className="text-muted" aria-label={t('action.deleteNamed', { name: one.title })} onClick={() => setAll((before) => before.filter((other) => other.id !== one.id))}>
              <Trash2 />
            </Button>
          </li>
        ))}
      </ul>
      <p className="border-t px-2.5 pt-2 text-xs text-muted">{t('ask.historyText')}</p>
    </div>
  )
}
