import { Link } from '@tanstack/react-router';
import { Fault } from '../../components/fault.tsx';
import type { ThreadPlace } from '../../platform/threads.ts';
import { AnswerForm } from '../inbox/answer-form.tsx';
import type { ChatSnapshot } from './chat-session.ts';
import type { RoomProps } from './conversation.tsx';

/** Says what the run does, or how it ended. */
export function RunLine({ place, snapshot }: { place: ThreadPlace; snapshot: ChatSnapshot }) {
  const { chat, status, runId, isBroken, fault } = snapshot;
  const isStopped = chat.error?.startsWith('UserInterrupt') ?? false;
  const word = isBroken ? 'The connection is broken and is being made again' : status === 'idle' ? '' : 'Running';
  return (
    <div className="flex flex-col gap-2">
      {status === 'idle' && chat.error !== undefined && !isStopped && <Fault error={chat.error} />}
      <Fault error={fault} />
      <div className="flex min-h-5 flex-wrap gap-3 text-xs text-faint">
        {runId !== undefined && (
          <Link
            to="/w/$workspaceId/deployments/$deploymentId/threads/$threadId/runs/$runId"
            params={{ ...place, runId }}
          >
            See the run
          </Link>
        )}
        <p role="status" className={status === 'idle' ? '' : 'animate-pulse'}>
          {status === 'idle' && isStopped ? 'The run was stopped.' : word && `${word} …`}
        </p>
      </div>
    </div>
  );
}

/** The questions with which a run has stopped. */
export function Questions({
  place,
  questions,
  wasTaken,
  onAnswered,
}: Pick<RoomProps, 'place' | 'questions' | 'wasTaken' | 'onAnswered'>) {
  return (
    <>
      {wasTaken && (
        <p role="alert" className="rounded border border-wait bg-card px-3 py-2 text-wait">
          The question before was answered by somebody else.
        </p>
      )}
      {questions.map((interrupt, index) => (
        <section key={interrupt.id ?? index} aria-label="Question" className="rounded border border-wait bg-card p-3">
          <AnswerForm {...place} interrupt={interrupt} onAnswered={onAnswered} hasFocus={index === 0} />
        </section>
      ))}
    </>
  );
}
