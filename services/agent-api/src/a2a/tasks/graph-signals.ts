import { isFields } from '../../http/fields.ts';
import type { StateMessage } from './state-messages.ts';

/** The values by which a graph asks for more than an answer. `docs/services/agent-api/a2a.md` has all of them. */

/** The name of the error with which a graph rejects its task. */
export const REJECTION = 'TaskRejectedError';

/** Returns whether a message asks to be the whole answer, without a task: `additional_kwargs.a2a.answer` is `message`. */
export function isWholeAnswer({ additional_kwargs: extra }: StateMessage): boolean {
  return isFields(extra) && isFields(extra.a2a) && extra.a2a.answer === 'message';
}
