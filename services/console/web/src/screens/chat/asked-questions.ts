import type { Thread } from '@runyard/contracts';
import { useState } from 'react';
import type { AnswerOutcome, Question } from '../../platform/threads.ts';

interface Asked {
  questions: readonly Question[];
  /** True once this page has answered the questions or passed over them. */
  isDone: boolean;
  /** True if somebody else has answered the previous questions. */
  wasTaken: boolean;
}

const NONE: Asked = { questions: [], isDone: false, wasTaken: false };

/**
 * Keeps the questions of a thread in sight until they were answered from here, or the run that somebody else's answer has
 * started is over: what is being written does not vanish under the hands without a word.
 */
export function useAskedQuestions(thread: Thread | undefined, isIdle: boolean) {
  const [asked, setAsked] = useState(NONE);
  const now = Object.values(thread?.interrupts ?? {}).flat();
  if (thread && thread.status !== 'busy' && isIdle && idsOf(now) !== idsOf(asked.questions)) {
    setAsked({ questions: now, isDone: false, wasTaken: asked.questions.length > 0 && !asked.isDone });
  }
  return {
    questions: asked.isDone ? [] : asked.questions,
    wasTaken: asked.wasTaken,
    /** Call it with what came of an answer, or without when a new run begins instead. */
    finish: (outcome?: AnswerOutcome) => {
      if (outcome?.type !== 'too-late') setAsked((asked) => ({ ...asked, isDone: true, wasTaken: false }));
    },
  };
}

function idsOf(questions: readonly Question[]): string {
  return questions.map(({ id }) => id).join();
}
