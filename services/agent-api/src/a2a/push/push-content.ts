import type { A2aTaskState } from '@runyard/contracts';
import {
  NEEDS_AUTH,
  type PushDelivery,
  SUPERSEDED,
  TASK_CANCELED,
  type WebhookContent,
  type WebhookRun,
} from '@runyard/run-engine';
import { isFields } from '../../http/fields.ts';
import { parseStoredJson } from '../../threads/parse-stored-json.ts';
import { toV03Task } from '../protocol/v03-forms.ts';
import { REJECTION } from '../tasks/graph-signals.ts';
import { messagesIn } from '../tasks/state-messages.ts';
import type { TaskRecord } from '../tasks/task-record.ts';
import { toTask } from '../tasks/task-view.ts';

/** Messages of the history that a notification in the form of 0.3 shows. */
const HISTORY_LENGTH = 10;

/** The task that a run brought to its end, or to a question, as its receiver gets it. */
export function pushContent(
  content: WebhookContent,
  { taskId, version, secrets }: PushDelivery,
): { headers: Record<string, string>; body: Buffer } {
  const values = content.values ? parseStoredJson(content.values) : undefined;
  const kwargs = parseStoredJson(content.kwargs);
  const sent = messagesIn(values) ? [] : (messagesIn(isFields(kwargs) ? kwargs.input : undefined) ?? []);
  const view = { historyScope: 'task', withArtifacts: true } as const;
  const record = recordOf(content, taskId, values);
  const isOld = version === '0.3';
  const task = toTask(record, { values, sent }, { ...view, historyLength: isOld ? HISTORY_LENGTH : 0 });
  const { token, authentication } = secrets;
  return {
    headers: {
      'content-type': isOld ? 'application/json' : 'application/a2a+json',
      ...(token !== undefined && { 'x-a2a-notification-token': token }),
      ...(authentication && {
        authorization: [authentication.scheme, authentication.credentials ?? ''].join(' ').trim(),
      }),
    },
    body: Buffer.from(JSON.stringify(isOld ? toV03Task(task) : { task })),
  };
}

function recordOf({ run }: WebhookContent, taskId: string, values: unknown): TaskRecord {
  return {
    taskId,
    contextId: run.thread_id,
    runId: run.run_id,
    state: stateOf(run, values),
    statusAt: new Date(isCanceled(run) ? run.updated_at : run.ended_at).toISOString(),
    error: run.error,
    isNewest: true,
    isSuperseded: run.metadata[TASK_CANCELED] === SUPERSEDED,
  };
}

function stateOf(run: WebhookRun, values: unknown): A2aTaskState {
  if (run.status === 'interrupted' || isCanceled(run)) return 'TASK_STATE_CANCELED';
  if (run.status !== 'success') {
    return run.error?.error === REJECTION ? 'TASK_STATE_REJECTED' : 'TASK_STATE_FAILED';
  }
  const isWaiting = isFields(values) && Object.hasOwn(values, '__interrupt__');
  if (!isWaiting) return 'TASK_STATE_COMPLETED';
  return Object.hasOwn(run.metadata, NEEDS_AUTH) ? 'TASK_STATE_AUTH_REQUIRED' : 'TASK_STATE_INPUT_REQUIRED';
}

/** Returns whether the task was canceled while it waited: its run had ended before. */
function isCanceled({ metadata }: WebhookRun): boolean {
  return Object.hasOwn(metadata, TASK_CANCELED);
}
