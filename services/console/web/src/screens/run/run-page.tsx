import type { Run } from '@runyard/contracts';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Empty } from '../../components/empty.tsx';
import { Fault } from '../../components/fault.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Loading } from '../../components/loading.tsx';
import { Missing } from '../../components/missing.tsx';
import { Page } from '../../components/page.tsx';
import { useLive } from '../../live/live.ts';
import { deploymentRunQuery, isActive, journalRunQuery, type RunPlace } from '../../platform/runs.ts';
import { GraphSection } from './graph-section.tsx';
import { Inspector } from './inspector.tsx';
import { RunActions } from './run-actions.tsx';
import { joinFacts, type RunFacts, timesOf } from './run-facts.ts';
import { RunQuestions } from './run-questions.tsx';
import { RunSummary, shortId } from './run-summary.tsx';
import { RunUsage } from './run-usage.tsx';
import { RunWebhooks } from './run-webhooks.tsx';
import { TimelineView } from './timeline-view.tsx';
import { useFeed, useRunFeed } from './use-run-feed.ts';

const ROUTE = '/w/$workspaceId/deployments/$deploymentId/threads/$threadId/runs/$runId';
/** The journal has the end of a run a moment after the run has ended. */
const JOURNAL_EVERY_MS = 2_000;
const JOURNAL_LATE_MS = 20_000;
/** It has the beginning of a run so long after that, if events are not late. */
const JOURNAL_BEHIND_MS = 3_000;

/** A run: what it is, what happened in it, and what it waits for. */
export function RunPage() {
  const { workspaceId, deploymentId, threadId, runId } = useParams({ strict: false }) as unknown as RunPlace;
  const place = useMemo(
    () => ({ workspaceId, deploymentId, threadId, runId }),
    [workspaceId, deploymentId, threadId, runId],
  );
  const run = useQuery(deploymentRunQuery(place));
  const hasEnded = run.data ? !isActive(run.data.status) : false;
  const seenEnd = useRef<{ runId: string; at: number }>(undefined);
  if (hasEnded && seenEnd.current?.runId !== runId) seenEnd.current = { runId, at: Date.now() };
  const isInJournal = useIsInJournal(run.isError ? null : run.data);
  const journal = useQuery({
    ...journalRunQuery(place),
    enabled: isInJournal,
    refetchInterval: ({ state: { data } }) =>
      hasEnded && !data?.ended_at && Date.now() - (seenEnd.current?.at ?? 0) < JOURNAL_LATE_MS
        ? JOURNAL_EVERY_MS
        : false,
  });
  useLive({ kind: 'runs', workspaceId }, ({ event, data }) => {
    if (event !== 'runs_changed') return;
    const { deployment_ids: changed } = data as { deployment_ids: string[] };
    if (hasEnded || !changed.includes(deploymentId)) return;
    void run.refetch();
    if (isInJournal) void journal.refetch();
  });
  const facts = useMemo(() => joinFacts(run.data, journal.data), [run.data, journal.data]);
  const error = run.error ?? journal.error;
  const title = `Run ${shortId(runId)}`;
  if (facts) return <ShownRun key={runId} {...{ place, facts, title, error }} />;
  if (run.isPending || journal.isPending) {
    return (
      <Page title={title}>
        {error ? <Fault error={error} onRetry={() => void run.refetch()} /> : <Loading what="the run" />}
      </Page>
    );
  }
  return error ? (
    <Page title={title}>
      <Fault
        error={error}
        onRetry={() => {
          void run.refetch();
          void journal.refetch();
        }}
      />
    </Page>
  ) : (
    <Missing what="This run" />
  );
}

/**
 * Returns whether a run was made long enough ago for the journal to have it: browsers report a run that is not there, to
 * whoever looks at the page, as a fault.
 */
function useIsInJournal(run: Run | null | undefined): boolean {
  const createdAt = run ? Date.parse(run.created_at) : 0;
  const [readyFor, setReadyFor] = useState<number>();
  useEffect(() => {
    if (run === undefined) return;
    const timer = setTimeout(() => setReadyFor(createdAt), Math.max(0, createdAt + JOURNAL_BEHIND_MS - Date.now()));
    return () => clearTimeout(timer);
  }, [run === undefined, createdAt]);
  return readyFor === createdAt;
}

interface ShownRunProps {
  place: RunPlace;
  facts: RunFacts;
  title: string;
  error: unknown;
}

function ShownRun({ place, facts, title, error }: ShownRunProps) {
  const { at } = useSearch({ strict: false }) as { at?: string };
  const navigate = useNavigate({ from: ROUTE });
  const shown = useRunFeed(place, facts);
  const { feed } = shown;
  const isEmpty = useFeed(feed, ({ rows }) => rows.length === 0);
  const isRunning = isActive(facts.status);
  const waiting = useFeed(feed, () => (isRunning ? '' : feed.waitingInterrupts().join(' ')));
  const select = useCallback(
    (id: string) => void navigate({ search: { at: id }, replace: true, resetScroll: false }),
    [navigate],
  );
  const { startedAt, createdAt } = timesOf(facts);
  return (
    <Page title={title} actions={<RunActions {...{ feed, place, facts }} />}>
      <Fault error={error ?? shown.error} onRetry={shown.readAgain} />
      <RunSummary {...{ place, facts }} />
      <RunUsage models={facts.models} tools={facts.tools} />
      {facts.error && (
        <p className="rounded border border-fault bg-card px-3 py-2 break-words whitespace-pre-wrap text-fault">
          {facts.error.error}: {facts.error.message}
        </p>
      )}
      {waiting !== '' && <RunQuestions place={place} ids={waiting.split(' ')} />}
      <GraphSection {...{ place, feed, isRunning }} assistantId={facts.assistantId} />
      <RunWebhooks {...{ place, isRunning }} />
      <div className="grid grow gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,26rem)]">
        <div className="flex h-[max(20rem,65dvh)] min-w-0 flex-col gap-2">
          <h2 className="sr-only">What happened</h2>
          {isEmpty && !shown.isLoading ? (
            <Empty title={isRunning ? 'Nothing has happened yet' : 'Nothing is kept of what happened in this run'}>
              {isRunning ? 'What the run does appears here.' : 'Its thread, or its checkpoints, have been deleted.'}
            </Empty>
          ) : isEmpty ? (
            <Loading what="the timeline" />
          ) : (
            <TimelineView
              feed={feed}
              selected={at}
              onSelect={select}
              startedAt={startedAt ?? createdAt}
              isRunning={isRunning}
            />
          )}
        </div>
        <div className="flex min-w-0 flex-col gap-4 lg:max-h-[max(20rem,65dvh)] lg:overflow-auto">
          <Inspector {...{ feed, place, isRunning }} selected={at} />
          {facts.kwargs?.input != null && <RunData name="input of the run" value={facts.kwargs.input} />}
          {facts.metadata && <RunData name="metadata of the run" value={facts.metadata} />}
        </div>
      </div>
    </Page>
  );
}

function RunData({ name, value }: { name: string; value: unknown }) {
  return (
    <section aria-label={name} className="min-w-0">
      <h2 className="mb-1 text-xs font-semibold first-letter:uppercase">{name}</h2>
      <JsonView value={value} name={name} />
    </section>
  );
}
