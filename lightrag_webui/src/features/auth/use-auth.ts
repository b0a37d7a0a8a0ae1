import { useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { ApiError } from '@/api/http'
import { getAuthStatus, verifyCredential } from '@/api/lightrag'
import { session } from '@/api/session'

export type Access =
  | { state: 'open'; accounts: boolean }
  | { state: 'login'; expired: boolean }
  | { state: 'key'; refused: string | null }

/** Asks the server what it wants, and whether what this browser has is good. */
async function findAccess(): Promise<Access> {
  const status = await getAuthStatus()
  const accounts = status.auth_mode === 'enabled'
  const { token, apiKey } = session.get()
  try {
    await verifyCredential()
    return { state: 'open', accounts }
  } catch (error) {
    if (!(error instanceof ApiError) || (error.status !== 401 && error.status !== 403)) throw error
    // A token from before the server was set up otherwise beats a good key; without it the key counts.
    if (token && !accounts) {
      session.set({ token: '' })
      return findAccess()
    }
    if (accounts) return { state: 'login', expired: Boolean(token) }
    return { state: 'key', refused: apiKey ? error.message : null }
  }
}

export const AUTH_KEY = ['auth']

export function useAuth() {
  return useQuery({ queryKey: AUTH_KEY, queryFn: findAccess, staleTime: Infinity, retry: false, refetchInterval: (query) => (query.state.status === 'error' ? 3000 : false) })
}

export const useSession = () => useSyncExternalStore(session.subscribe, session.get)
