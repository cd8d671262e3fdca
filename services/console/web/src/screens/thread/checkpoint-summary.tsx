import type { ThreadState } from '@runyard/contracts';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { JsonView } from '../../components/json-view.tsx';
import { Time } from '../../components/time.tsx';
import type { ThreadPlace } from '../../platform/threads.ts';
import { describeCheckpoint, writersOf } from './checkpoint-tree.ts';

interface CheckpointSummaryProps {
  place: ThreadPlace;
  state: ThreadState;
  isNewest: boolean;
  /** The ways to go on from it. */
  actions: ReactNode;
}

/** Says how a checkpoint came to be, and what comes next. */
export function CheckpointSummary({ place, state, isNewest, actions }: CheckpointSummaryProps) {
  const { metadata, next, tasks, created_at: at, checkpoint } = state;
  const isInSubgraph = Boolean(checkpoint?.checkpoint_ns);
  const runId = metadata?.run_id;
  const writes = metadata?.writes;
  return (
    <section aria-labelledby="checkpoint" className="flex min-w-0 flex-col gap-2">
      <h2 id="checkpoint" className="text-base font-semibold">
        {isNewest ? 'Newest checkpoint' : 'Checkpoint'}
      </h2>
      <p className="flex flex-wrap gap-x-3">
        <span>
          Step {String(metadata?.step ?? '–')}, written by <strong>{describeCheckpoint(state)}</strong>
        </span>
        <span className="text-faint">
          <Time at={at} />
        </span>
        {typeof runId === 'string' && (
          <Link
            to="/w/$workspaceId/deployments/$deploymentId/threads/$threadId/runs/$runId"
            params={{ ...place, runId }}
          >
            Run
          </Link>
        )}
        {state.checkpoint_id !== null && !isInSubgraph && (
          <Link
            to="/w/$workspaceId/deployments/$deploymentId/threads/$threadId/diff"
            params={place}
            search={{ to: state.checkpoint_id }}
          >
            What changed
          </Link>
        )}
      </p>
      {actions}
      {writersOf(state).length > 0 && (
        <details>
          <summary className="cursor-pointer text-xs font-semibold">What was written</summary>
          <div className="mt-2">
            <JsonView name="writes" value={writes} />
          </div>
        </details>
      )}
      {tasks.length > 0 ? (
        <ul aria-label="Tasks after this checkpoint" className="flex flex-col gap-1">
          {tasks.map(({ id, name, error, interrupts, result }) => (
            <li key={id} className="flex flex-wrap gap-x-2">
              <span className="text-faint">Next:</span> <code>{name}</code>
              {error && <span className="text-fault">✕ {error}</span>}
              {interrupts.length > 0 && <span className="text-wait">● waits for an answer</span>}
              {!error && interrupts.length === 0 && (
                <span className="text-faint">{result === null || result === undefined ? 'not run' : 'has run'}</span>
              )}
            </li>
          ))}
        </ul>
      ) : (
        <p className="text-faint">{next.length > 0 ? `Next: ${next.join(', ')}` : 'Nothing comes next.'}</p>
      )}
    </section>
  );
}
