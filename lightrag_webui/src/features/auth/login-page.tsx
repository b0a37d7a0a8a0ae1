import { useMutation, useQueryClient } from '@tanstack/react-query'
import { KeyRound, LogIn } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { login } from '@/api/lightrag'
import { readClaims, session } from '@/api/session'
import { Button } from '@/components/ui/button'
import { ErrorNote } from '@/components/ui/feedback'
import { Field } from '@/components/ui/field'
import { Input } from '@/components/ui/input'
import { useBrand } from '@/lib/brand'
import type { Access } from './use-auth'

/** The way in: with an account, or with a key. */
export function LoginCard({ access }: { access: Access }) {
  const { t } = useTranslation()
  const brand = useBrand()
  const [byKey, setByKey] = useState(!access.accounts || access.refused === 'key')
  return (
    <div className="flex min-h-dvh flex-col items-center justify-center gap-6 p-4">
      <header className="flex max-w-sm flex-col items-center text-center">
        <img src="./icon.svg" alt="" width={48} height={48} />
        <p className="mt-3 text-xl font-semibold tracking-tight">{brand.title}</p>
        {brand.description ? <p className="mt-1 text-sm text-balance text-muted">{brand.description}</p> : null}
      </header>
      <div className="w-full max-w-sm rounded-2xl border bg-surface p-6 shadow-float">
        {byKey ? <KeyForm refused={access.refused === 'key'} /> : <AccountForm expired={access.refused === 'token'} />}
        {access.accounts ? (
          <button type="button" className="mt-4 w-full rounded-md text-center text-[0.8125rem] text-muted hover:text-ink hover:underline" onClick={() => setByKey(!byKey)}>
            {byKey ? t('auth.byAccount') : t('auth.byKey')}
          </button>
        ) : null}
      </div>
    </div>
  )
}

function Head({ title, text, warning }: { title: string; text: ReactNode; warning?: boolean }) {
  return (
    <div className="mb-5">
      <h1 className="text-base font-semibold">{title}</h1>
      <p role={warning ? 'alert' : undefined} className={warning ? 'mt-2 rounded-lg border border-filter-line bg-filter px-3 py-2 text-sm leading-relaxed text-filter-ink' : 'mt-1 text-sm leading-relaxed text-muted'}>
        {text}
      </p>
    </div>
  )
}

function AccountForm({ expired }: { expired: boolean }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [name, setName] = useState(readClaims(session.get().token)?.sub ?? '')
  const [password, setPassword] = useState('')
  const signIn = useMutation({
    mutationFn: () => login(name, password),
    onSuccess: async (reply) => {
      session.set({ token: reply.access_token })
      await client.invalidateQueries()
    },
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        signIn.mutate()
      }}
    >
      <Head title={t('auth.signIn')} text={expired ? t('error.expired') : t('auth.signInText')} warning={expired} />
      <div className="flex flex-col gap-4">
        <Field label={t('auth.user')}>{(ids) => <Input {...ids} required autoComplete="username" value={name} onChange={(event) => setName(event.target.value)} />}</Field>
        <Field label={t('auth.password')}>
          {(ids) => <Input {...ids} required type="password" autoComplete="current-password" value={password} onChange={(event) => setPassword(event.target.value)} />}
        </Field>
        {signIn.error ? <ErrorNote error={signIn.error} /> : null}
        <Button type="submit" variant="primary" disabled={signIn.isPending}>
          <LogIn className="rtl:-scale-x-100" />
          {t('auth.signIn')}
        </Button>
      </div>
    </form>
  )
}

function KeyForm({ refused }: { refused: boolean }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [key, setKey] = useState('')
  const [tried, setTried] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        setTried(key)
        session.set({ apiKey: key.trim() })
        void client.invalidateQueries()
      }}
    >
      <Head title={t('auth.keyTitle')} text={t('auth.keyText')} />
      <div className="flex flex-col gap-4">
        <Field label={t('auth.key')} error={refused && key === tried ? t('auth.keyRefused') : undefined}>
          {(ids) => <Input {...ids} required type="password" autoComplete="off" value={key} onChange={(event) => setKey(event.target.value)} />}
        </Field>
        <Button type="submit" variant="primary">
          <KeyRound />
          {t('auth.useKey')}
        </Button>
      </div>
    </form>
  )
}
