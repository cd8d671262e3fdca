import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Status } from '../../components/status.tsx';
import { formatDuration, Time } from '../../components/time.tsx';
import { assistantsQuery } from '../../platform/assistants.ts';
import type { RunPlace } from '../../platform/runs.ts';
import type { RunFacts } from './run-facts.ts';

/** Shows status, times, attempts and origin of a run. */
export function RunSummary({ place, facts }: { place: RunPlace; facts: RunFacts }) {
  const { workspaceId, deploymentId, threadId } = place;
  const { status, graphId, assistantId, revisionId, attempts, attempt, creator, cancelReason } = facts;
  const { data: assistants } = useQuery(assistantsQuery(workspaceId, deploymentId));
  const assistant = assistants?.find(({ assistant_id: id }) => id === assistantId);
  return (
    <dl className="grid grid-cols-[repeat(auto-fill,minmax(9rem,1fr))] gap-x-4 gap-y-2 rounded border border-line bg-card p-3">
      <Fact name="Status">
        <span role="status">
          <Status status={status} />
        </span>
        {cancelReason && <span className="text-xs text-faint"> cancelled</span>}
      </Fact>
      <Fact name="Graph">{graphId ?? '–'}</Fact>
      <Fact name="Assistant">
        <span title={assistantId}>{assistant?.name ?? <code className="text-xs">{shortId(assistantId)}</code>}</span>
      </Fact>
      <Fact name="Thread">
        <Link
          to="/w/$workspaceId/deployments/$deploymentId/threads/$threadId"
          params={{ workspaceId, deploymentId, threadId }}
          search={{}}
          title={threadId}
        >
          <code className="text-xs">{shortId(threadId)}</code>
        </Link>
      </Fact>
      <Fact name="Revision">
        {revisionId ? (
          <Link
            to="/w/$workspaceId/deployments/$deploymentId/revisions/$revisionId"
            params={{ workspaceId, deploymentId, revisionId }}
            title={revisionId}
          >
            <code className="text-xs">{shortId(revisionId)}</code>
          </Link>
        ) : (
          '–'
        )}
      </Fact>
      <Fact name="Created">
        <Time at={facts.createdAt} />
      </Fact>
      <Fact name="Queue">{formatDuration(facts.queueMs)}</Fact>
      <Fact name="Duration">{formatDuration(facts.durationMs)}</Fact>
      <Fact name="Attempts">
        {attempts.length > 1
          ? attempts
              .map(({ attempt, outcome }) => `${attempt}: ${(outcome ?? 'running').replaceAll('_', ' ')}`)
              .join(', ')
          : (attempt ?? '–')}
      </Fact>
      <Fact name="Made by">
        {creator ? (
          <span title={[creator.identity, creator.key_id].filter(Boolean).join(' ')}>
            {creator.kind.replaceAll('_', ' ')}{' '}
            <code className="text-xs whitespace-nowrap">{shortId(creator.key_id ?? creator.identity)}</code>
          </span>
        ) : (
          '–'
        )}
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-faint">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  );
}

/** Returns the end of an id, which differs where its beginning, a time, may not. */
export function shortId(id: string): string {
  return id.length > 12 ? `…${id.slice(-8)}` : id;
}
