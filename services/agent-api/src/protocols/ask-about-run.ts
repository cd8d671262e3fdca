import { RunCreateStateful, validatorOf } from '@runyard/contracts';
import type { Scope } from '../access/scope.ts';
import { AuthValueError } from '../auth/ask-about-request.ts';
import { CREATE_RUN } from '../auth/operation-questions.ts';
import type { Fields } from '../http/fields.ts';
import type { RunRequest } from '../runs/run-arguments.ts';
import type { Permitted } from './access.ts';

/** A run that a protocol asks for, as far as its client decides about it. */
export type AskedRun = Partial<RunRequest> & Pick<RunRequest, 'assistant_id'>;

export interface RunQuestion {
  run: AskedRun;
  /** The thread that the run is on; null for one of its own. */
  threadId: string | null;
}

type Ask = (question: { event: 'threads:create_run'; value: Fields }) => Promise<Permitted>;

const checkRun = validatorOf(RunCreateStateful);

/**
 * Asks the project about a run, as the operations of the HTTP API do, and returns it as the handler left it. Its thread
 * stays the same, and its assistant the one that was asked about before.
 *
 * @throws AuthValueError, ForbiddenError, and what the project throws
 */
export async function askAboutRun(ask: Ask, { run, threadId }: RunQuestion): Promise<{ scope: Scope; run: AskedRun }> {
  const parts = { params: threadId === null ? {} : { thread_id: threadId }, query: {}, body: run as Fields };
  const asked = CREATE_RUN.show(parts);
  const { scope, value } = await ask({ event: 'threads:create_run', value: asked });
  if (value === asked) return { scope, run };
  const left = { ...CREATE_RUN.apply(parts, value).body, assistant_id: run.assistant_id };
  const checked = checkRun({ ...left });
  if (!checked.ok) {
    const issues = checked.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
    throw new AuthValueError('threads:create_run', issues.join('; '));
  }
  return { scope, run: left };
}
