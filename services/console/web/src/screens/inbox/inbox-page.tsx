import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Fault, faultText } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { Page } from '../../components/page.tsx';
import { useLive } from '../../live/live.ts';
import { useThrottled } from '../../live/use-throttled.ts';
import { canRun, deploymentsQuery } from '../../platform/deployments.ts';
import { personQuery, useWorkspace } from '../../session/session.ts';
import { InboxDetail } from './inbox-detail.tsx';
import { type InboxItem, itemAfter, itemKey, orderInbox } from './inbox-items.ts';
import { InboxList } from './inbox-list.tsx';
import { inboxQuery } from './inbox-query.ts';

const PAGE = 50;
const MAX = 1_000;
/** The inbox polls at this interval if the platform does not report changes. */
const LOOK_MS = 10_000;

/** Everything in a workspace that waits for a person. */
export function InboxPage() {
  const { id: workspaceId } = useWorkspace();
  const queryClient = useQueryClient();
  const search = useSearch({ from: '/signed-in/w/$workspaceId/inbox' });
  const navigate = useNavigate({ from: '/w/$workspaceId/inbox' });
  const [limit, setLimit] = useState(PAGE);
  const [hasEvents, setHasEvents] = useState(true);
  const { data: person } = useQuery(personQuery);
  const deployments = useQuery(deploymentsQuery(workspaceId));
  const running = useMemo(() => (deployments.data ?? []).filter(canRun), [deployments.data]);
  const inbox = useQuery({
    ...inboxQuery(queryClient, workspaceId, running, limit),
    enabled: deployments.isSuccess,
    placeholderData: (before) => before,
    ...(!hasEvents && { refetchInterval: LOOK_MS }),
  });
  const refetchSoon = useThrottled(() => void queryClient.invalidateQueries({ queryKey: ['inbox', workspaceId] }));
  useLive({ kind: 'runs', workspaceId }, ({ event }) => {
    setHasEvents(event !== 'closed');
    if (event !== 'closed') refetchSoon();
  });
  const items = useMemo(() => {
    const all = orderInbox(inbox.data?.items ?? [], Date.now());
    return search.mine ? all.filter(({ assignee }) => assignee === person?.email) : all;
  }, [inbox.data, search.mine, person]);
  const open =
    search.deployment !== undefined && search.thread !== undefined
      ? { workspaceId, deploymentId: search.deployment, threadId: search.thread }
      : undefined;
  const openKey = open && itemKey(open.deploymentId, open.threadId);
  const show = (item: InboxItem | undefined) =>
    void navigate({
      search: ({ mine }) => ({ mine, ...(item && { deployment: item.deploymentId, thread: item.threadId }) }),
    });
  const onAnswered = () => {
    const next = itemAfter(items, openKey ?? '');
    show(next);
    // The form with the focus goes away.
    if (!next) document.getElementById('main')?.focus();
    refetchSoon();
  };
  return (
    <Page
      title="Inbox"
      actions={
        <label className="flex items-center gap-1.5">
          <input
            type="checkbox"
            checked={search.mine ?? false}
            onChange={({ target }) =>
              void navigate({ search: (before) => ({ ...before, mine: target.checked ? true : undefined }) })
            }
          />
          Mine only
        </label>
      }
    >
      <Fault error={deployments.error ?? inbox.error} onRetry={() => void inbox.refetch()} />
      {inbox.data?.faults.map(({ name, error }) => (
        <Fault key={name} error={`${name}: ${faultText(error)}`} onRetry={() => void inbox.refetch()} />
      ))}
      {inbox.isPending && !deployments.error && <Loading what="what waits" />}
      <p role="status" className="sr-only">
        {inbox.data && `${items.length} ${items.length === 1 ? 'thread waits' : 'threads wait'}`}
      </p>
      {inbox.data && items.length === 0 && !open && (
        <Empty title={search.mine ? 'Nothing waits for you' : 'Nothing waits for a person'}>
          Threads whose graph asks a question, or has stopped at a breakpoint, come here by themselves.
        </Empty>
      )}
      <div className="grid min-w-0 items-start gap-4 lg:grid-cols-[22rem_minmax(0,1fr)]">
        {items.length > 0 && (
          <div className="flex min-w-0 flex-col gap-2">
            <InboxList items={items} openKey={openKey} me={person?.email} />
            {inbox.data?.hasMore && limit < MAX && (
              <Button onClick={() => setLimit(Math.min(MAX, limit * 2))}>Show more</Button>
            )}
          </div>
        )}
        {open && <InboxDetail key={openKey} place={open} onAnswered={onAnswered} onChange={refetchSoon} />}
      </div>
    </Page>
  );
}
