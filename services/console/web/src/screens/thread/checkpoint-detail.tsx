import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Fault } from '../../components/fault.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Loading } from '../../components/loading.tsx';
import { Messages } from '../../components/messages.tsx';
import { messagesOf } from '../../components/messages-content.ts';
import { type ThreadPlace, threadQuery, threadStateQuery } from '../../platform/threads.ts';
import { AnswerForm } from '../inbox/answer-form.tsx';
import { CheckpointSummary } from './checkpoint-summary.tsx';
import { NamespacePath } from './namespace-path.tsx';
import { Subgraphs } from './subgraphs.tsx';
import { TimeTravel } from './time-travel.tsx';

interface CheckpointDetailProps {
  place: ThreadPlace;
  /** Undefined for the newest. */
  checkpointId: string | undefined;
  /** The subgraph that the checkpoint is of, empty for the whole graph. */
  namespace: string;
}

/** The state of a thread at a checkpoint, which node wrote it, and the ways to go on from it. */
export function CheckpointDetail({ place, checkpointId, namespace }: CheckpointDetailProps) {
  const state = useQuery({
    ...threadStateQuery(place, checkpointId, namespace),
    placeholderData: (before) => before,
  });
  const messages = messagesOf(state.data?.values);
  const hasState = state.data?.checkpoint_id !== null && state.data !== undefined;
  const isNewest = checkpointId === undefined;
  return (
    <div
      className={`flex min-w-0 flex-col gap-6 ${state.isPlaceholderData ? 'opacity-60' : ''}`}
      aria-busy={state.isFetching}
    >
      {namespace !== '' && <NamespacePath namespace={namespace} checkpoint={state.data?.checkpoint} />}
      <Fault error={state.error} onRetry={() => void state.refetch()} />
      {state.isPending && <Loading what="the state" />}
      {state.data && !hasState && <p className="text-faint">There is no state yet.</p>}
      {state.data && hasState && (
        <>
          <CheckpointSummary
            place={place}
            state={state.data}
            isNewest={isNewest}
            actions={<TimeTravel place={place} state={state.data} isStale={state.isPlaceholderData} />}
          />
          {isNewest && namespace === '' && <Questions place={place} />}
          <Subgraphs place={place} checkpoint={state.data} />
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
