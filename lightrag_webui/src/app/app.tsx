import { QueryClientProvider } from '@tanstack/react-query'
import { Direction } from 'radix-ui'
import { lazy } from 'react'
import { useTranslation } from 'react-i18next'
import { createHashRouter, Navigate, RouterProvider } from 'react-router'
import { Toaster } from 'sonner'
import { ErrorPage } from '@/app/error-page'
import { Shell } from '@/app/shell'
import { TooltipProvider } from '@/components/ui/overlay'
import { AuthGate } from '@/features/auth/auth-gate'
import { queryClient } from '@/lib/queries'
import { useIsDark } from '@/lib/theme'

const DocumentManager = lazy(() => import('@/features/documents/DocumentManager'))
const AskPage = lazy(() => import('@/features/query/ask-page'))
const GraphViewer = lazy(() => import('@/features/graph/GraphViewer'))
const SettingsPage = lazy(() => import('@/features/settings/settings-page'))
const ApiPage = lazy(() => import('@/features/settings/api-page'))

const router = createHashRouter([
  {
    element: (
      <AuthGate>
        <Shell />
      </AuthGate>
    ),
    errorElement: <ErrorPage />,
    children: [
      {
        errorElement: <ErrorPage />,
        children: [
          { index: true, element: <Navigate to="/ask" replace /> },
          { path: 'documents', element: <DocumentManager /> },
          { path: 'ask', element: <AskPage /> },
          { path: 'graph', element: <GraphViewer /> },
          { path: 'settings', element: <SettingsPage /> },
          { path: 'api', element: <ApiPage /> },
          { path: '*', element: <Navigate to="/ask" replace /> },
        ],
      },
    ],
  },
])

export function App() {
  const { i18n } = useTranslation()
  const dark = useIsDark()
  const direction = i18n.dir()
  return (
    <Direction.Provider dir={direction}>
      <QueryClientProvider client={queryClient}>
        <TooltipProvider delayDuration={350}>
          <RouterProvider router={router} />
          <Toaster position={direction === 'rtl' ? 'bottom-left' : 'bottom-right'} theme={dark ? 'dark' : 'light'} dir={direction} closeButton />
        </TooltipProvider>
      </QueryClientProvider>
    </Direction.Provider>
  )
}
