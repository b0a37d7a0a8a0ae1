import { createRoot } from 'react-dom/client'
import { App } from '@/app/app'
import { startI18n } from '@/lib/i18n'
import { applyTheme } from '@/lib/theme'
import './index.css'

applyTheme()
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme)

// A built page that was replaced on the server asks for files that are gone: load the new one.
window.addEventListener('vite:preloadError', () => window.location.reload())

void startI18n().finally(() => {
  const root = document.getElementById('root')
  if (root) createRoot(root).render(<App />)
})
