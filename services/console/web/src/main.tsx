import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { PlatformError } from './platform/ask.ts';
import { createAppRouter } from './router.tsx';
import { personQuery, signIn } from './session/session.ts';
import { applyTheme } from './shell/theme.ts';
import './styles.css';

const ATTEMPTS = 3;

applyTheme();
// Parts that add styles of their own, such as dialogs, mark them so.
setNonce(document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '');

const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    // A deployment may refuse a person whom the platform knows: who is signed in, the platform alone says.
    onError: (error, { queryKey }) => {
      if (!(error instanceof PlatformError) || error.status !== 401) return;
      if (queryKey[0] === personQuery.queryKey[0]) signIn();
      else void queryClient.invalidateQueries(personQuery);
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      // A refusal of the platform is the same the next time.
      retry: (failures, error) =>
        failures < ATTEMPTS && error instanceof PlatformError && (error.status === 0 || error.status >= 500),
      throwOnError: false,
    },
  },
});

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={createAppRouter(queryClient)} />
    </QueryClientProvider>
  </StrictMode>,
);
