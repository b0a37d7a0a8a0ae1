import { useMutation, useQueryClient } from '@tanstack/react-query'
import { KeyRound, LogIn } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { login } from '@/api/lightrag'
import { session } from '@/api/session'
import { Button } from '@/components/ui/button'
import { ErrorNote } from '@/components/ui/feedback'
import { Field } from '@/components/ui/field'
import { Input } from '@/components/ui/input'
import { AUTH_KEY } from './use-auth'

function Card({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  return (
    <main className="flex min-h-dvh items-center justify-center p-4">
      <div className="w-full max-w-sm rounded-2xl border bg-surface p-6 shadow-float">
        <img src="./icon.svg" alt="" width={40} height={40} />
        <h1 className="mt-4 text-lg font-semibold">{title}</h1>
        <p className="mt-1 text-sm leading-relaxed text-muted">{text}</p>
        <div className="mt-5">{children}</div>
      </div>
    </main>
  )
}

export function LoginPage({ expired }: { expired: boolean }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const signIn = useMutation({
    mutationFn: () => login(name, password),
    onSuccess: async (reply) => {
      session.set({ token: reply.access_token })
      await client.resetQueries({ queryKey: AUTH_KEY })
    },
  })
  return (
    <Card title={t('auth.signIn')} text={expired ? t('error.expired') : t('auth.signInText')}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          signIn.mutate()
        }}
      >
        <Field label={t('auth.user')}>{(ids) => <Input {...ids} required autoComplete="username" value={name} onChange={(event) => setName(event.target.value)} />}</Field>
        <Field label={t('auth.password')}>
          {(ids) => <Input {...ids} required type="password" autoComplete="current-password" value={password} onChange={(event) => setPassword(event.target.value)} />}
        </Field>
        {signIn.error ? <ErrorNote error={signIn.error} /> : null}
        <Button type="submit" variant="primary" disabled={signIn.isPending}>
          <LogIn className="rtl:-scale-x-100" />
          {t('auth.signIn')}
        </Button>
      </form>
    </Card>
  )
}

export function KeyPage({ refused }: { refused: string | null }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [key, setKey] = useState('')
  return (
    <Card title={t('auth.keyTitle')} text={t('auth.keyText')}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          session.set({ apiKey: key.trim() })
          void client.resetQueries({ queryKey: AUTH_KEY })
        }}
      >
        <Field label={t('auth.key')} error={refused ? t('auth.keyRefused') : undefined}>
          {(ids) => <Input {...ids} required type="password" autoComplete="off" value={key} onChange={(event) => setKey(event.target.value)} />}
        </Field>
        <Button type="submit" variant="primary">
          <KeyRound />
          {t('auth.useKey')}
        </Button>
      </form>
    </Card>
  )
}
