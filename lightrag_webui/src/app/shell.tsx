import { Braces, FileText, MessagesSquare, Settings, Waypoints, WifiOff, type LucideIcon } from 'lucide-react'
import { Suspense, useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { NavLink, Outlet, useLocation } from 'react-router'
import { onNotice } from '@/api/http'
import { Skeleton } from '@/components/ui/feedback'
import { Tooltip } from '@/components/ui/overlay'
import { AccountButton } from '@/features/auth/account-button'
import { useBrand } from '@/lib/brand'
import { cn } from '@/lib/cn'
import { useHealth } from '@/lib/queries'

const TABS: Array<{ to: string; name: string; icon: LucideIcon }> = [
  { to: '/documents', name: 'documents', icon: FileText },
  { to: '/ask', name: 'ask', icon: MessagesSquare },
  { to: '/graph', name: 'graph', icon: Waypoints },
  { to: '/api', name: 'api', icon: Braces },
]

function Tabs({ className, vertical }: { className?: string; vertical?: boolean }) {
  const { t } = useTranslation()
  return (
    <nav aria-label={t('nav.label')} className={className}>
      {TABS.map(({ to, name, icon: Icon }) => (
        <NavLink
          key={to}
          to={to}
          className={({ isActive }) =>
            cn(
              'relative flex items-center gap-2 rounded-lg font-medium transition-colors [&_svg]:size-4',
              vertical ? 'flex-1 flex-col justify-center gap-0.5 py-1.5 text-[0.6875rem] [&_svg]:size-5' : 'h-9 px-3 text-sm',
              isActive ? 'bg-brand-soft text-brand-ink' : 'text-muted hover:bg-sunken hover:text-ink',
            )
          }
        >
          <Icon aria-hidden />
          {t(`nav.${name}`)}
        </NavLink>
      ))}
    </nav>
  )
}

export function Shell() {
  const { t } = useTranslation()
  const health = useServerWatch()
  const { pathname } = useLocation()
  const { title, description } = useBrand()
  const tab = [...TABS.map((one) => one.name), 'settings'].find((name) => pathname.startsWith(`/${name}`))
  useEffect(() => {
    document.title = tab ? `${t(`nav.${tab}`)} · ${title}` : title
  }, [t, tab, title])
  return (
    <div className="flex h-dvh flex-col">
      <a href="#main" className="sr-only z-60 rounded-lg bg-brand px-3 py-2 text-on-brand focus:not-sr-only focus:absolute focus:start-3 focus:top-2" onClick={(event) => {
        event.preventDefault()
        document.getElementById('main')?.focus()
      }}>
        {t('nav.skip')}
      </a>
      <header className="flex h-14 shrink-0 items-center gap-4 border-b bg-surface px-4">
        <NavLink to="/ask" className="flex items-center gap-2.5 rounded-lg text-[0.9375rem] font-semibold tracking-tight">
          <img src="./icon.svg" alt="" width={28} height={28} />
          <span className="min-w-0">
            <span className="block max-w-60 truncate leading-tight">{title}</span>
            {description ? <span className="hidden max-w-60 truncate text-xs leading-tight font-normal tracking-normal text-muted lg:block" title={description}>{description}</span> : null}
          </span>
        </NavLink>
        <Tabs className="ms-2 hidden items-center gap-1 md:flex" />
        <span className="flex-1" />
        <AccountButton />
        <Tooltip text={t('nav.settings')}>
          <NavLink to="/settings" aria-label={t('nav.settings')} className="flex size-9 items-center justify-center rounded-lg text-muted hover:bg-sunken aria-[current=page]:bg-brand-soft aria-[current=page]:text-brand-ink [&_svg]:size-4.5">
            <Settings aria-hidden />
          </NavLink>
        </Tooltip>
      </header>
      {health.isError ? (
        <div role="alert" className="flex shrink-0 items-center justify-center gap-2 bg-danger px-4 py-1.5 text-center text-sm font-medium text-white dark:text-black">
          <WifiOff className="size-4 shrink-0" aria-hidden />
          {t('error.reconnecting')}
        </div>
      ) : null}
      {health.data?.ai_content_notice_enabled && tab === 'ask' ? <p className="shrink-0 border-b bg-sunken px-4 py-1.5 text-center text-xs text-muted">{t('nav.aiNotice')}</p> : null}
      <main id="main" tabIndex={-1} className="relative min-h-0 flex-1 outline-none">
        <Suspense fallback={<PageSkeleton />}>
          <Outlet />
        </Suspense>
      </main>
      <Tabs vertical className="flex shrink-0 gap-1 border-t bg-surface px-2 py-1 pb-[max(0.25rem,env(safe-area-inset-bottom))] md:hidden" />
    </div>
  )
}

/** The health of the server, asked again as soon as any request says that it has changed. */
function useServerWatch() {
  const health = useHealth()
  const { isError, isFetching, refetch } = health
  useEffect(() => onNotice((notice) => {
    if (!isFetching && isError !== (notice === 'offline')) void refetch()
  }), [isError, isFetching, refetch])
  return health
}

function PageSkeleton() {
  return (
    <div className="mx-auto flex max-w-5xl flex-col gap-4 p-6" aria-busy>
      <Skeleton className="h-8 w-48" />
      <Skeleton className="h-64 w-full" />
    </div>
  )
}
