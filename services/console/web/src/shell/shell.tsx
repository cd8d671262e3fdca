import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useParams, useRouterState } from '@tanstack/react-router';
import { Dialog } from 'radix-ui';
import { Suspense, useEffect, useRef, useState } from 'react';
import { Button } from '../components/button.tsx';
import { Loading } from '../components/loading.tsx';
import { Missing } from '../components/missing.tsx';
import { workspacesQuery } from '../session/session.ts';
import { AccountMenu } from './account-menu.tsx';
import { CommandMenu } from './command-menu.tsx';
import { PLACES } from './places.ts';
import { WorkspaceMenu } from './workspace-menu.tsx';

const KEPT_WORKSPACE = 'workspace';

/** Returns the workspace that this browser showed last. */
export function keptWorkspace(): string | null {
  return window.localStorage.getItem(KEPT_WORKSPACE);
}

/** The frame around every page of a workspace. */
export function Shell() {
  const { workspaceId } = useParams({ strict: false }) as { workspaceId: string };
  const { data: workspaces = [] } = useQuery(workspacesQuery);
  const [hasMenu, setHasMenu] = useState(false);
  const pathname = useRouterState({ select: ({ location }) => location.pathname });
  const main = useRef<HTMLElement>(null);
  const shown = useRef(pathname);
  useEffect(() => {
    window.localStorage.setItem(KEPT_WORKSPACE, workspaceId);
  }, [workspaceId]);
  useEffect(() => {
    setHasMenu(false);
    // People who read by ear, or go by keyboard, begin at the top of a new page.
    if (shown.current !== pathname) main.current?.focus();
    shown.current = pathname;
  }, [pathname]);
  if (workspaces.length > 0 && !workspaces.some(({ id }) => id === workspaceId))
    return <Missing what="This workspace" />;
  return (
    <div className="grid h-dvh grid-rows-[auto_minmax(0,1fr)] md:grid-cols-[13rem_minmax(0,1fr)] md:grid-rows-1">
      <a href="#main" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-card focus:p-2">
        Skip to the content
      </a>
      <header className="flex items-center gap-2 border-b border-line bg-card p-2 md:hidden">
        <Dialog.Root open={hasMenu} onOpenChange={setHasMenu}>
          <Dialog.Trigger asChild>
            <Button look="quiet" aria-label="Menu">
              ☰
            </Button>
          </Dialog.Trigger>
          <Dialog.Portal>
            <Dialog.Overlay className="fixed inset-0 z-40 bg-black/40" />
            <Dialog.Content
              aria-describedby={undefined}
              className="fixed inset-y-0 left-0 z-50 flex w-64 flex-col overflow-y-auto bg-card p-2"
            >
              <Dialog.Title className="sr-only">Menu</Dialog.Title>
              <Navigation />
            </Dialog.Content>
          </Dialog.Portal>
        </Dialog.Root>
        <span className="font-semibold">Runyard</span>
      </header>
      <aside className="hidden min-h-0 flex-col overflow-y-auto border-r border-line bg-card p-2 md:flex">
        <Navigation />
      </aside>
      <main id="main" ref={main} tabIndex={-1} className="min-h-0 min-w-0 overflow-auto outline-none">
        <Suspense fallback={<Loading what="the page" />}>
          <Outlet />
        </Suspense>
      </main>
      <CommandMenu />
    </div>
  );
}

function Navigation() {
  const { workspaceId } = useParams({ strict: false }) as { workspaceId: string };
  return (
    <>
      <WorkspaceMenu />
      <nav aria-label="Workspace" className="mt-2 flex flex-col gap-0.5">
        {PLACES.map(({ to, label, sign }) => (
          <Link
            key={to}
            to={to}
            params={{ workspaceId }}
            activeOptions={{ exact: to === '/w/$workspaceId', includeSearch: false }}
            activeProps={{ 'aria-current': 'page', className: 'bg-chosen font-semibold' }}
            className="flex items-center gap-2 rounded px-2 py-1.5 text-text no-underline hover:bg-raised"
          >
            <span aria-hidden="true" className="w-4 text-center">
              {sign}
            </span>
            {label}
          </Link>
        ))}
      </nav>
      <div className="mt-auto pt-2">
        <AccountMenu />
      </div>
    </>
  );
}
