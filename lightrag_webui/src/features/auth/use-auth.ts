import { useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { ApiError } from '@/api/http'
import { getAuthStatus, verifyCredential, type AuthStatus } from '@/api/lightrag'
import { session } from '@/api/session'
import { keepBrand } from '@/lib/brand'

export interface Access {
  open: boolean
  /** Whether the server knows accounts; otherwise it wants a key. */
  accounts: boolean
  /** What this browser had, and the server does not take any longer. */
  refused: 'token' | 'key' | null
}

/** Asks the server what it wants, and whether what this browser has is good. */
async function findAccess(): Promise<Access> {
  const status: AuthStatus = await getAuthStatus()
  keepBrand({ title: status.webui_title ?? '', description: status.webui_description ?? '' })
  const accounts = status.auth_mode === 'enabled'
  const { token, apiKey } = session.get()
  try {
    await verifyCredential()
    return { open: true, accounts, refused: null }
  } catch (error) {
    if (!(error instanceof ApiError) || (error.status !== 401 && error.status !== 403)) throw error
    // A token from before the server was set up otherwise; without it the key counts.
    if (token && !accounts) {
      session.set({ token: '' })
      return findAccess()
    }
    return { open: false, accounts, refused: apiKey ? 'key' : token ? 'token' : null }
  }
}

export const AUTH_KEY = ['auth']

export function useAuth() {
  return useQuery({ queryKey: AUTH_KEY, queryFn: findAccess, staleTime: Infinity, retry: false, refetchInterval: (query) => (query.state.status === 'error' ? 3000 : false) })
}

export const useSession = () => useSyncExternalStore(session.subscribe, session.get)
