import { QUESTIONS } from '../../interviews.ts';
import type { Random } from '../../random.ts';
import { answerTo, chooseTalk } from '../talk.ts';
import type { GivenAnswers } from './given-answers.ts';
import type { Fields } from './mcp-requests.ts';

/** A call of a tool, with what has to come of it. */
export interface ToolCall {
  name: string;
  arguments: Fields;
  /** Runs that it takes: one, and one after each round of questions. */
  runs: number;
  /** Returns what is wrong with the state of its graph at the end; undefined when nothing is. */
  faultOf(state: Fields, given: GivenAnswers): string | undefined;
}

const SLEEP_MS = 200;
const PLACES = Object.keys(QUESTIONS) as (keyof typeof QUESTIONS)[];

/** Chooses a tool that asks nothing, once, or in several rounds, also several questions at once. */
export function chooseToolCall(random: Random): ToolCall {
  return random.chance(0.5) ? talkCall(random) : interviewCall(random);
}

function talkCall(random: Random): ToolCall {
  const talk = chooseTalk(random);
  const questions = talk.isAsked ? [`May I answer ${talk.said}?`] : [];
  return {
    name: 'talk',
    arguments: { messages: talk.said },
    runs: 1 + questions.length,
    faultOf({ messages, approval }, given) {
      const text = (messages as { content: unknown }[] | undefined)?.at(-1)?.content;
      const wanted = answerTo(talk, String(approval));
      if (text !== wanted) return `answers "${text}" instead of "${wanted}"`;
      return given.faultOf(
        questions,
        questions.map((question) => [question, approval]),
      );
    },
  };
}

function interviewCall(random: Random): ToolCall {
  const where = random.pick(PLACES);
  const rounds = QUESTIONS[where];
  return {
    name: 'interview',
    arguments: { where, sleepMs: SLEEP_MS },
    runs: 1 + rounds.length,
    faultOf: ({ answers = [] }, given) => given.faultOf(rounds.flat(), answers as [string, unknown][]),
  };
}
