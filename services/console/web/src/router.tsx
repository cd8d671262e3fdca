import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { Missing } from './components/missing.tsx';
import { PageFault } from './components/page-fault.tsx';
import { PlatformError } from './platform/ask.ts';
import { readRunFilters } from './screens/runs/run-filters.ts';
import { readStoreSearch } from './screens/store/store-search.ts';
import { readUsageChoice } from './screens/usage/usage-choice.ts';
import { personQuery, workspacesQuery } from './session/session.ts';
import { keptWorkspace, Shell } from './shell/shell.tsx';
import { SignedOut } from './shell/signed-out.tsx';

const root = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: Outlet,
  notFoundComponent: () => <Missing />,
});

const signedOut = createRoute({ getParentRoute: () => root, path: '/signed-out', component: SignedOut });

/** All pages of a person who is signed in. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  beforeLoad: async ({ context: { queryClient } }) => {
    await queryClient.ensureQueryData(personQuery).catch(async (error: unknown) => {
      if (!(error instanceof PlatformError) || error.status !== 401) throw error;
      // The browser is on its way to the sign-in: there is no page to show meanwhile.
      await new Promise(() => {});
    });
    await queryClient.ensureQueryData(workspacesQuery);
  },
  errorComponent: PageFault,
});

const start = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  beforeLoad: async ({ context: { queryClient } }) => {
    const workspaces = await queryClient.ensureQueryData(workspacesQuery);
    const kept = keptWorkspace();
    const workspace = workspaces.find(({ id }) => id === kept) ?? workspaces[0];
    if (workspace) throw redirect({ to: '/w/$workspaceId', params: { workspaceId: workspace.id }, replace: true });
  },
  component: lazyRouteComponent(() => import('./screens/no-workspace.tsx'), 'NoWorkspace'),
});

const workspace = createRoute({ getParentRoute: () => signedIn, path: '/w/$workspaceId', component: Shell });

const pageNumber = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) > 1 ? (value as number) : undefined;

const versionNumber = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : undefined;

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

const chat = createRoute({
  getParentRoute: () => workspace,
  path: '/',
  validateSearch: (search): { deployment?: string; assistant?: string; thread?: string } => ({
    deployment: text(search.deployment),
    assistant: text(search.assistant),
    thread: text(search.thread),
  }),
  component: lazyRouteComponent(() => import('./screens/chat/chat-page.tsx'), 'ChatPage'),
});

const runs = createRoute({
  getParentRoute: () => workspace,
  path: '/runs',
  validateSearch: readRunFilters,
  component: lazyRouteComponent(() => import('./screens/runs/runs-page.tsx'), 'RunsPage'),
});

const inbox = createRoute({
  getParentRoute: () => workspace,
  path: '/inbox',
  validateSearch: (search): { deployment?: string; thread?: string; mine?: true } => ({
    deployment: text(search.deployment),
    thread: text(search.thread),
    ...(search.mine === true && { mine: true }),
  }),
  component: lazyRouteComponent(() => import('./screens/inbox/inbox-page.tsx'), 'InboxPage'),
});

const deployments = createRoute({
  getParentRoute: () => workspace,
  path: '/deployments',
  validateSearch: (search): { name?: string } => ({ name: text(search.name) }),
  component: lazyRouteComponent(() => import('./screens/deployments/deployments-page.tsx'), 'DeploymentsPage'),
});

const deployment = createRoute({
  getParentRoute: () => workspace,
  path: '/deployments/$deploymentId',
  component: lazyRouteComponent(() => import('./screens/deployment/deployment-page.tsx'), 'DeploymentPage'),
});

const revisions = createRoute({
  getParentRoute: () => deployment,
  path: '/',
  component: lazyRouteComponent(() => import('./screens/deployment/revisions-tab.tsx'), 'RevisionsTab'),
});

const revision = createRoute({
  getParentRoute: () => deployment,
  path: '/revisions/$revisionId',
  component: lazyRouteComponent(() => import('./screens/deployment/revision-tab.tsx'), 'RevisionTab'),
});

const logs = createRoute({
  getParentRoute: () => deployment,
  path: '/logs',
  validateSearch: (search): { level?: string; query?: string } => ({
    level: text(search.level),
    query: text(search.query),
  }),
  component: lazyRouteComponent(() => import('./screens/deployment/logs-tab.tsx'), 'LogsTab'),
});

const settings = createRoute({
  getParentRoute: () => deployment,
  path: '/settings',
  component: lazyRouteComponent(() => import('./screens/deployment/settings-tab.tsx'), 'SettingsTab'),
});

const assistants = createRoute({
  getParentRoute: () => deployment,
  path: '/assistants',
  validateSearch: (search): { graph?: string; name?: string } => ({
    graph: text(search.graph),
    name: text(search.name),
  }),
  component: lazyRouteComponent(() => import('./screens/assistants/assistants-tab.tsx'), 'AssistantsTab'),
});

const assistant = createRoute({
  getParentRoute: () => workspace,
  path: '/deployments/$deploymentId/assistants/$assistantId',
  validateSearch: (search): { version?: number } => ({ version: versionNumber(search.version) }),
  component: lazyRouteComponent(() => import('./screens/assistant/assistant-page.tsx'), 'AssistantPage'),
});

const crons = createRoute({
  getParentRoute: () => deployment,
  path: '/crons',
  component: lazyRouteComponent(() => import('./screens/crons/crons-tab.tsx'), 'CronsTab'),
});

const budgets = createRoute({
  getParentRoute: () => deployment,
  path: '/budgets',
  component: lazyRouteComponent(() => import('./screens/budgets/budgets-tab.tsx'), 'BudgetsTab'),
});

const store = createRoute({
  getParentRoute: () => deployment,
  path: '/store',
  validateSearch: readStoreSearch,
  component: lazyRouteComponent(() => import('./screens/store/store-tab.tsx'), 'StoreTab'),
});

const threads = createRoute({
  getParentRoute: () => workspace,
  path: '/deployments/$deploymentId/threads',
  validateSearch: (search): { status?: string; metadata?: string } => ({
    status: text(search.status),
    metadata: text(search.metadata),
  }),
  component: lazyRouteComponent(() => import('./screens/threads/threads-page.tsx'), 'ThreadsPage'),
});

const thread = createRoute({
  getParentRoute: () => workspace,
  path: '/deployments/$deploymentId/threads/$threadId',
  validateSearch: (search): { checkpoint?: string; ns?: string } => ({
    checkpoint: text(search.checkpoint),
    ns: text(search.ns),
  }),
  component: lazyRouteComponent(() => import('./screens/thread/thread-page.tsx'), 'ThreadPage'),
});

const diff = createRoute({
  getParentRoute: () => workspace,
  path: '/deployments/$deploymentId/threads/$threadId/diff',
  validateSearch: (search): { from?: string; to?: string } => ({ from: text(search.from), to: text(search.to) }),
  component: lazyRouteComponent(() => import('./screens/state-diff/diff-page.tsx'), 'DiffPage'),
});

const usage = createRoute({
  getParentRoute: () => workspace,
  path: '/usage',
  validateSearch: readUsageChoice,
  component: lazyRouteComponent(() => import('./screens/usage/usage-page.tsx'), 'UsagePage'),
});

const workspaceBudgets = createRoute({
  getParentRoute: () => workspace,
  path: '/usage/budgets',
  component: lazyRouteComponent(() => import('./screens/budgets/budgets-page.tsx'), 'BudgetsPage'),
});

const replay = createRoute({
  getParentRoute: () => workspace,
  path: '/deployments/$deploymentId/threads/$threadId/runs/$runId/replay',
  validateSearch: (search): { thread?: string; run?: string; deployment?: string } => ({
    thread: text(search.thread),
    run: text(search.run),
    deployment: text(search.deployment),
  }),
  component: lazyRouteComponent(() => import('./screens/replay/replay-page.tsx'), 'ReplayPage'),
});

const organization = createRoute({
  getParentRoute: () => workspace,
  path: '/organization',
  component: lazyRouteComponent(() => import('./screens/organization/organization-page.tsx'), 'OrganizationPage'),
});

const members = createRoute({
  getParentRoute: () => organization,
  path: '/',
  validateSearch: (search): { q?: string; page?: number; invites?: number } => ({
    q: text(search.q),
    page: pageNumber(search.page),
    invites: pageNumber(search.invites),
  }),
  component: lazyRouteComponent(() => import('./screens/organization/members-tab.tsx'), 'MembersTab'),
});

const roles = createRoute({
  getParentRoute: () => organization,
  path: '/roles',
  component: lazyRouteComponent(() => import('./screens/organization/roles-tab.tsx'), 'RolesTab'),
});

const keys = createRoute({
  getParentRoute: () => organization,
  path: '/keys',
  component: lazyRouteComponent(() => import('./screens/organization/keys-tab.tsx'), 'KeysTab'),
});

const audit = createRoute({
  getParentRoute: () => organization,
  path: '/audit',
  validateSearch: (search): { action?: string; actor?: string; from?: string; to?: string } => ({
    action: text(search.action),
    actor: text(search.actor),
    from: text(search.from),
    to: text(search.to),
  }),
  component: lazyRouteComponent(() => import('./screens/organization/audit-tab.tsx'), 'AuditTab'),
});

const access = createRoute({
  getParentRoute: () => organization,
  path: '/access',
  validateSearch: (
    search,
  ): { q?: string; identity?: string; key?: string; permission?: string; resource?: string } => ({
    q: text(search.q),
    identity: text(search.identity),
    key: text(search.key),
    permission: text(search.permission),
    resource: text(search.resource),
  }),
  component: lazyRouteComponent(() => import('./screens/organization/access-tab.tsx'), 'AccessTab'),
});

const sso = createRoute({
  getParentRoute: () => organization,
  path: '/sso',
  component: lazyRouteComponent(() => import('./screens/organization/sso-tab.tsx'), 'SsoTab'),
});

const scim = createRoute({
  getParentRoute: () => organization,
  path: '/scim',
  validateSearch: (search): { q?: string; users?: number; groups?: number } => ({
    q: text(search.q),
    users: pageNumber(search.users),
    groups: pageNumber(search.groups),
  }),
  component: lazyRouteComponent(() => import('./screens/organization/scim-tab.tsx'), 'ScimTab'),
});

const account = createRoute({
  getParentRoute: () => workspace,
  path: '/account',
  component: lazyRouteComponent(() => import('./screens/account/account-page.tsx'), 'AccountPage'),
});

const run = createRoute({
  getParentRoute: () => workspace,
  path: '/deployments/$deploymentId/threads/$threadId/runs/$runId',
  validateSearch: (search): { at?: string } => ({ at: text(search.at) }),
  component: lazyRouteComponent(() => import('./screens/run/run-page.tsx'), 'RunPage'),
});

const routeTree = root.addChildren([
  signedOut,
  signedIn.addChildren([
    start,
    workspace.addChildren([
      chat,
      runs,
      inbox,
      deployments,
      deployment.addChildren([revisions, revision, logs, settings, assistants, crons, budgets, store]),
      assistant,
      threads,
      thread,
      diff,
      organization.addChildren([members, roles, keys, audit, access, sso, scim]),
      account,
      usage,
      workspaceBudgets,
      run,
      replay,
    ]),
  ]),
]);

export function createAppRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    context: { queryClient },
    defaultPreload: 'intent',
    defaultErrorComponent: PageFault,
    defaultNotFoundComponent: () => <Missing />,
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
