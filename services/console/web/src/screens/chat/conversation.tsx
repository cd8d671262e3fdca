import { useEffect, useMemo, useRef } from 'react';
import { Button } from '../../components/button.tsx';
import { Messages } from '../../components/messages.tsx';
import type { JsonSchema } from '../../components/schema-form-fields.ts';
import type { AnswerOutcome, Question, ThreadPlace } from '../../platform/threads.ts';
import type { ChatSnapshot } from './chat-session.ts';
import { shownMessages } from './chat-state.ts';
import { Composer } from './composer.tsx';
import { Questions, RunLine } from './run-line.tsx';

export interface RoomProps {
  place: ThreadPlace;
  snapshot: ChatSnapshot;
  questions: readonly Question[];
  /** True if somebody else has answered the previous questions. */
  wasTaken: boolean;
  schema: JsonSchema | null;
  /** `said` is the message to show at once. */
  start(input: unknown, said?: Record<string, unknown>): void;
  stop(): Promise<unknown>;
  onAnswered(outcome: AnswerOutcome): void;
}

const EXAMPLE = 'hello';
/** Whoever is so near to the end, in pixels, reads what comes. */
const NEAR_PX = 80;

/** A chat with a graph that takes messages. */
export function Conversation({ place, snapshot, questions, wasTaken, start, stop, onAnswered }: RoomProps) {
  const { chat, status } = snapshot;
  const messages = useMemo(() => shownMessages(chat), [chat]);
  const end = useFollowedEnd(messages);
  const send = (text: string) => {
    const said = { type: 'human', content: text, id: crypto.randomUUID() };
    start({ messages: [said] }, said);
  };
  const answer = messages.at(-1);
  return (
    <div className="mx-auto flex w-full max-w-3xl flex-1 flex-col gap-4">
      {messages.length > 0 ? (
        <Messages messages={messages} />
      ) : (
        status === 'idle' && (
          <div className="flex flex-col items-center gap-3 py-8">
            <p className="text-faint">Say something, or begin with an example.</p>
            <Button look="first" onClick={() => send(EXAMPLE)}>
              {EXAMPLE}
            </Button>
          </div>
        )
      )}
      <p role="status" className="sr-only">
        {status === 'idle' && answer?.type === 'ai' && `Answer: ${answer.text}`}
      </p>
      <Questions {...{ place, questions, wasTaken, onAnswered }} />
      <RunLine {...{ place, snapshot }} />
      <div ref={end} className="mt-auto" />
      <Composer isRunning={status !== 'idle'} canStop={snapshot.runId !== undefined} onSend={send} onStop={stop} />
    </div>
  );
}

/** Keeps the end of the list in sight for as long as the reader is there. */
function useFollowedEnd(content: unknown) {
  const end = useRef<HTMLDivElement>(null);
  const isNear = useRef(true);
  useEffect(() => {
    const scroller = end.current?.closest('main');
    if (!scroller) return;
    const onScroll = () => {
      isNear.current = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR_PX;
    };
    scroller.addEventListener('scroll', onScroll, { passive: true });
    return () => scroller.removeEventListener('scroll', onScroll);
  }, []);
  // It follows what is shown.
  useEffect(() => {
    const scroller = end.current?.closest('main');
    if (scroller && isNear.current) scroller.scrollTop = scroller.scrollHeight;
  }, [content]);
  return end;
}
