import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Loading } from '../../components/loading.tsx';
import { Messages } from '../../components/messages.tsx';
import { messagesOf } from '../../components/messages-content.ts';
import { useLive } from '../../live/live.ts';
import { goOn, type Question, type ThreadPlace, threadQuery, threadStateQuery } from '../../platform/threads.ts';
import { useWorkspace } from '../../session/session.ts';
import { AnswerForm } from './answer-form.tsx';
import { Assignment } from './assignment.tsx';
import { questionsOf } from './inbox-items.ts';

const LAST_MESSAGES = 5;

export interface InboxDetailProps {
  place: ThreadPlace;
  /** Called when the question was answered from here. */
  onAnswered(): void;
  /** Called when something of the thread has changed. */
  onChange(): void;
}

/** One thread that waits: what it asks, what was said before, who answers by when. */
export function InboxDetail({ place, onAnswered, onChange }: InboxDetailProps) {
  const thread = useQuery(threadQuery(place));
  const [asked, setAsked] = useState<Question[]>();
  const heading = useRef<HTMLHeadingElement>(null);
  const now = thread.data && questionsOf(thread.data);
  // The question stays while somebody writes the answer, also when it is answered elsewhere.
  if (!asked && now && now.length > 0) setAsked(now);
  const isAnswered = asked !== undefined && now !== undefined && !now.some(({ id }) => id === asked[0]?.id);
  const isQuiet = thread.data !== undefined && now?.length === 0;
  const isFirst = useRef(true);
  useEffect(() => {
    if (thread.data === undefined || !isFirst.current) return;
    isFirst.current = false;
    if (isQuiet) heading.current?.focus();
  }, [thread.data, isQuiet]);
  useLive({ kind: 'thread', ...place, channels: ['lifecycle'] }, ({ event }) => {
    if (event === 'lifecycle') void thread.refetch();
  });
  const messages = messagesOf(thread.data?.values);
  return (
    <section aria-labelledby="waiting" className="flex min-w-0 flex-col gap-4 rounded border border-line bg-card p-4">
      <div className="flex flex-wrap items-baseline justify-between gap-2">
        <h2 id="waiting" ref={heading} tabIndex={-1} className="text-base font-semibold">
          {asked ? 'Question' : 'Thread'}
        </h2>
        <Link to="/w/$workspaceId/deployments/$deploymentId/threads/$threadId" params={place}>
          See the thread
        </Link>
      </div>
      <Fault error={thread.error} onRetry={() => void thread.refetch()} />
      {thread.isPending && <Loading what="the thread" />}
      {isAnswered && (
        <p role="alert" className="rounded border border-wait px-3 py-2 text-wait">
          This question was answered meanwhile.
        </p>
      )}
      {asked?.map((interrupt, index) => (
        <AnswerForm
          key={interrupt.id ?? index}
          {...place}
          interrupt={interrupt}
          hasFocus={index === 0}
          onAnswered={({ type }) => (type === 'taken' ? onAnswered() : onChange())}
        />
      ))}
      {thread.data && !asked && (
        <Breakpoint place={place} assistantId={thread.data.metadata.assistant_id} onDone={onAnswered} />
      )}
      {thread.data && <Assignment place={place} metadata={thread.data.metadata} onChange={onChange} />}
      {messages && messages.length > 0 && (
        <div className="flex min-w-0 flex-col gap-2">
          <h3 className="text-xs font-semibold">Last messages</h3>
          <Messages messages={messages.slice(-LAST_MESSAGES)} />
        </div>
      )}
      {thread.data && !messages && (
        <div className="flex min-w-0 flex-col gap-2">
          <h3 className="text-xs font-semibold">State</h3>
          <JsonView name="state" value={thread.data.values} />
        </div>
      )}
    </section>
  );
}

/** A thread that was stopped between two nodes goes on when somebody says so. */
function Breakpoint({ place, assistantId, onDone }: { place: ThreadPlace; assistantId: unknown; onDone(): void }) {
  const workspace = useWorkspace();
  const state = useQuery(threadStateQuery(place, undefined));
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => goOn(place, String(assistantId)),
    onSuccess: onDone,
  });
  if (!state.data) return <Fault error={state.error} onRetry={() => void state.refetch()} />;
  const { next } = state.data;
  if (next.length === 0) return <p className="text-faint">Nothing waits here.</p>;
  const unavailable =
    missingPermission(workspace.may('runs:create'), 'runs:create') ??
    (typeof assistantId === 'string' ? undefined : 'The thread does not say which assistant it is of') ??
    (isPending ? 'It is going on' : undefined);
  return (
    <div className="flex flex-col gap-2">
      <p>
        It has stopped before <code className="font-semibold">{next.join(', ')}</code>.
      </p>
      <Button autoFocus look="first" className="self-start" unavailable={unavailable} onClick={() => mutate()}>
        Go on
      </Button>
      <Fault error={error} />
    </div>
  );
}
