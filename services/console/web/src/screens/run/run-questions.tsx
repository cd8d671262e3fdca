import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { type RunPlace, threadInterruptsQuery } from '../../platform/runs.ts';
import { shortId } from './run-summary.tsx';

const AnswerForm = lazy(async () => ({ default: (await import('../inbox/answer-form.tsx')).AnswerForm }));

/** Shows the questions of a run that its thread still waits for, with a form for each answer. */
export function RunQuestions({ place, ids }: { place: RunPlace; ids: readonly string[] }) {
  const queryClient = useQueryClient();
  const query = threadInterruptsQuery(place);
  const { data: thread, error, refetch } = useQuery(query);
  const interrupts = Object.values(thread?.interrupts ?? {})
    .flat()
    .filter(({ id }) => typeof id === 'string' && ids.includes(id));
  const { workspaceId, deploymentId, threadId } = place;
  const [next, setNext] = useState<string>();
  if (next !== undefined) {
    return (
      <p role="status" className="rounded border border-line bg-card p-3">
        The answer was taken.{' '}
        <Link
          to="/w/$workspaceId/deployments/$deploymentId/threads/$threadId/runs/$runId"
          params={{ ...place, runId: next }}
          search={{}}
        >
          The thread goes on in run {shortId(next)}
        </Link>
      </p>
    );
  }
  if (error) return <Fault error={error} onRetry={() => void refetch()} />;
  if (interrupts.length === 0) return null;
  return (
    <section aria-label="Questions" className="flex flex-col gap-3 rounded border border-wait bg-card p-3">
      <h2 className="font-semibold">The thread waits for an answer</h2>
      <Suspense fallback={<Loading what="the question" />}>
        {interrupts.map((interrupt) => (
          <AnswerForm
            key={interrupt.id}
            {...{ workspaceId, deploymentId, threadId, interrupt }}
            onAnswered={(outcome) => {
              if (outcome.type === 'taken') setNext(outcome.runId);
              void queryClient.invalidateQueries({ queryKey: query.queryKey });
            }}
          />
        ))}
      </Suspense>
    </section>
  );
}
