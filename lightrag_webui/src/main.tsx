import { createRoot } from 'react-dom/client'
import { App } from '@/app/app'
import { startI18n } from '@/lib/i18n'
import { watchLoading } from '@/lib/load-errors'
import { applyTheme } from '@/lib/theme'
import './index.css'

applyTheme()
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme)

watchLoading()

void startI18n().finally(() => {
  const root = document.getElementById('root')
  if (root) createRoot(root).render(<App />)
})
