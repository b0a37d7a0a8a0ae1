import type { TFunction } from 'i18next'
import { ApiError } from '@/api/http'

/** Returns an error in words that say what to do, in the language of the page where we have them. */
export function errorText(error: unknown, t: TFunction): string {
  // The browser's own words for a body that is no JSON are English and about its parser.
  if (error instanceof SyntaxError) return t('error.unreadable')
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error)
  if (error.isOffline) return t('error.offline')
  if (error.code === 'too_many_logins') return t('error.tooManyLogins', { count: error.retryAfter ?? 60 })
  if (error.status === 429) {
    return error.retryAfter ? t('error.busyFor', { count: error.retryAfter }) : t('error.busy')
  }
  if (error.status === 401) return error.code === 'wrong_credentials' ? t('error.wrongCredentials') : t('error.expired')
  if (error.status === 403) return t('error.refused', { detail: error.message })
  if (error.code === 'invalid_scope') return t('filter.fault.scopes')
  if (error.status === 413) return t('error.tooLarge')
  return error.message
}
