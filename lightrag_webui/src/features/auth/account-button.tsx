import { CircleUser, LogOut } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { readClaims, session } from '@/api/session'
import { Button } from '@/components/ui/button'
import { Menu, MenuItem } from '@/components/ui/overlay'
import { useAuth, useSession } from './use-auth'

/** Who is signed in, and the way out. Nothing where nobody needs to. */
export function AccountButton() {
  const { t } = useTranslation()
  const auth = useAuth()
  const { token, apiKey } = useSession()
  const claims = readClaims(token)
  const user = claims?.role === 'user' ? claims.sub : undefined
  if (!auth.data?.open || (!user && !apiKey)) return null
  const leave = () => {
    session.set({ token: '', apiKey: '' })
    window.location.reload()
  }
  return (
    <Menu
      trigger={
        <Button variant="ghost" size="small" className="max-w-44 text-muted">
          <CircleUser />
          <span className="truncate">{user ?? t('auth.withKey')}</span>
        </Button>
      }
    >
      <MenuItem onSelect={leave}>
        <LogOut className="rtl:-scale-x-100" />
        {user ? t('auth.signOut') : t('auth.forgetKey')}
      </MenuItem>
    </Menu>
  )
}
