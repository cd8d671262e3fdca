import { A2aTaskState, conforms } from '@runyard/contracts';
import { invalidParams } from '../protocol/a2a-error.ts';

/** Reads the state that a list is limited to, also in the words of 0.3. @throws A2aError */
export function readState(text: string | undefined): A2aTaskState | undefined {
  if (text === undefined) return undefined;
  const name = text.startsWith('TASK_STATE_') ? text : `TASK_STATE_${text.toUpperCase().replaceAll('-', '_')}`;
  if (name === 'TASK_STATE_UNSPECIFIED') return undefined;
  if (conforms(A2aTaskState, name)) return name;
  throw invalidParams('status', 'is no state of tasks');
}
