import type { A2aTaskState } from '@runyard/contracts';
import type { ClaimedWebhook, PushDelivery } from '@runyard/run-engine';
import { isFields } from '../protocol/read-fields.ts';
import { toV03Task } from '../protocol/v03-forms.ts';
import { messagesIn } from '../tasks/state-messages.ts';
import type { TaskRecord } from '../tasks/task-record.ts';
import { toTask } from '../tasks/task-view.ts';

/** Messages of the history that a notification in the form of 0.3 shows. */
const HISTORY_LENGTH = 10;

/** The task that a run brought to its end, or to a question, as its receiver gets it. */
export function pushContent(
  webhook: ClaimedWebhook,
  { taskId, version, secrets }: PushDelivery,
): { headers: Record<string, string>; body: Buffer } {
  const values = webhook.values ? parseJson(webhook.values) : undefined;
  const kwargs = parseJson(webhook.kwargs);
  const sent = messagesIn(values) ? [] : (messagesIn(isFields(kwargs) ? kwargs.input : undefined) ?? []);
  const view = { historyScope: 'task', withArtifacts: true } as const;
  const record = recordOf(webhook, taskId, values);
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

function recordOf({ run }: ClaimedWebhook, taskId: string, values: unknown): TaskRecord {
  return {
    taskId,
    contextId: run.thread_id,
    runId: run.run_id,
    state: stateOf(run.status, values),
    statusAt: new Date(run.ended_at).toISOString(),
    error: run.error,
    isNewest: true,
  };
}

function stateOf(status: string, values: unknown): A2aTaskState {
  if (status === 'interrupted') return 'TASK_STATE_CANCELED';
  if (status !== 'success') return 'TASK_STATE_FAILED';
  const isWaiting = isFields(values) && Object.hasOwn(values, '__interrupt__');
  return isWaiting ? 'TASK_STATE_INPUT_REQUIRED' : 'TASK_STATE_COMPLETED';
}

function parseJson(text: Uint8Array): unknown {
  return JSON.parse(Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('utf8'));
}
