/**
 * Checks what a host sends: it runs code that nobody vouches for. A host need not check what its parent sends, and
 * loads none of this.
 */
import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { Answer, type MessageForm } from './message.ts';
import { toHost, toParent } from './messages.ts';

/** Says what is wrong with something that was received; undefined when it has its form. */
type Check = (value: unknown) => string | undefined;

interface MessageCheck {
  check: Check;
  /** Decides about an ill-formed one: its sender is told, it is dropped, or the connection ends. */
  onFault: 'answer' | 'drop' | 'close';
}

export interface MessageChecks {
  /** By type; a type that is missing is unknown. */
  messages: ReadonlyMap<string, MessageCheck>;
  /** They check the answers to requests that were sent, by the type of the request. */
  answers: ReadonlyMap<string, Check>;
}

/** Returns the checks of the messages that a parent receives. */
export function checksAtParent(): MessageChecks {
  const messages: Record<string, MessageForm> = { answer: Answer, ...toParent };
  const requests: Record<string, MessageForm> = toHost;
  return {
    messages: new Map(
      Object.entries(messages).map(([type, { header, answer, mayBeDropped }]) => [
        type,
        { check: checkOf(header), onFault: answer ? 'answer' : mayBeDropped ? 'drop' : 'close' },
      ]),
    ),
    answers: new Map(
      Object.entries(requests).flatMap(([type, { answer }]) => (answer ? [[type, checkOf(answer)] as const] : [])),
    ),
  };
}

/** Compiles the check when the first message of its type arrives: many hosts never send messages of some types. */
function checkOf(schema: TSchema): Check {
  let validator: Validator | undefined;
  return (value) => {
    validator ??= Compile(schema);
    if (validator.Check(value)) return undefined;
    const [first] = validator.Errors(value);
    return first === undefined ? 'it does not match' : `${first.instancePath} ${first.message}`.trim();
  };
}
