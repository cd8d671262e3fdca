import type { ThreadState } from '@runyard/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Fault } from '../../components/fault.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Loading } from '../../components/loading.tsx';
import { Messages } from '../../components/messages.tsx';
import { messagesOf } from '../../components/messages-content.ts';
import { Time } from '../../components/time.tsx';
import { type ThreadPlace, threadQuery, threadStateQuery } from '../../platform/threads.ts';
import { AnswerForm } from '../inbox/answer-form.tsx';
import { describeCheckpoint, writersOf } from './checkpoint-tree.ts';

/** The state of a thread at a checkpoint, and which node wrote it. */
export function CheckpointDetail({ place, checkpointId }: { place: ThreadPlace; checkpointId: string | undefined }) {
  const state = useQuery({
    ...threadStateQuery(place, checkpointId),
    placeholderData: (before) => before,
  });
  const messages = messagesOf(state.data?.values);
  const hasState = state.data?.checkpoint_id !== null && state.data !== undefined;
  return (
    <div
      className={`flex min-w-0 flex-col gap-6 ${state.isPlaceholderData ? 'opacity-60' : ''}`}
      aria-busy={state.isFetching}
    >
      <Fault error={state.error} onRetry={() => void state.refetch()} />
      {state.isPending && <Loading what="the state" />}
      {state.data && !hasState && <p className="text-faint">The thread has no state yet.</p>}
      {state.data && hasState && (
        <>
          <Written place={place} state={state.data} isNewest={checkpointId === undefined} />
          {checkpointId === undefined && <Questions place={place} />}
          {messages && messages.length > 0 && (
            <section aria-labelledby="messages" className="flex min-w-0 flex-col gap-2">
              <h2 id="messages" className="text-base font-semibold">
                Messages
              </h2>
              <Messages messages={messages} />
            </section>
          )}
          <section aria-labelledby="state" className="flex min-w-0 flex-col gap-2">
            <h2 id="state" className="text-base font-semibold">
              State
            </h2>
            <JsonView name="state" value={state.data.values} />
          </section>
        </>
      )}
    </div>
  );
}

/** Says how a checkpoint came to be, and what comes next. */
function Written({ place, state, isNewest }: { place: ThreadPlace; state: ThreadState; isNewest: boolean }) {
  const { metadata, next, tasks, created_at: at } = state;
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
        {state.checkpoint_id !== null && (
          <Link
            to="/w/$workspaceId/deployments/$deploymentId/threads/$threadId/diff"
            params={place}
            search={{ to: state.checkpoint_id }}
          >
            What changed
          </Link>
        )}
      </p>
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

/** The questions that a thread waits with. */
function Questions({ place }: { place: ThreadPlace }) {
  const queryClient = useQueryClient();
  const { data: thread } = useQuery(threadQuery(place));
  const questions = thread?.status === 'interrupted' ? Object.values(thread.interrupts ?? {}).flat() : [];
  return questions.map((interrupt, index) => (
    <section key={interrupt.id ?? index} aria-label="Question" className="rounded border border-wait bg-card p-3">
      <AnswerForm
        {...place}
        interrupt={interrupt}
        onAnswered={() => void queryClient.invalidateQueries(threadQuery(place))}
      />
    </section>
  ));
}
