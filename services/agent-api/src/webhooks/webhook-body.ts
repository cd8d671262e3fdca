import type { WebhookField } from '@runyard/project';
import type { WebhookContent } from '@runyard/run-engine';
import { publicArguments } from '../access/public-arguments.ts';
import { toWireTime } from '../http/wire-time.ts';
import { parseStoredJson } from '../threads/parse-stored-json.ts';

/** Builds the body of a webhook: the ended run as JSON. The values are passed through as they were written. */
export function webhookBody(content: WebhookContent, fields: ReadonlySet<WebhookField>, sentAt: Date): Buffer {
  const { run } = content;
  const parts: Record<WebhookField, () => string | Uint8Array | undefined> = {
    run_id: () => JSON.stringify(run.run_id),
    thread_id: () => JSON.stringify(run.thread_id),
    assistant_id: () => JSON.stringify(run.assistant_id),
    status: () => JSON.stringify(run.status),
    created_at: () => timeText(run.created_at),
    updated_at: () => timeText(run.updated_at),
    metadata: () => JSON.stringify(run.metadata),
    kwargs: () => JSON.stringify(publicArguments(parseArguments(content.kwargs), run.thread_id)),
    multitask_strategy: () => JSON.stringify(run.multitask_strategy),
    run_started_at: () => timeText(run.started_at),
    run_ended_at: () => timeText(run.ended_at),
    webhook_sent_at: () => JSON.stringify(toWireTime(sentAt)),
    values: () => content.values ?? 'null',
    error: () => (run.error ? JSON.stringify(run.error) : undefined),
  };
  const pieces: (string | Uint8Array)[] = [];
  for (const [field, text] of Object.entries(parts)) {
    const value = fields.has(field as WebhookField) ? text() : undefined;
    if (value !== undefined) pieces.push(`${pieces.length === 0 ? '{' : ','}"${field}":`, value);
  }
  if (pieces.length === 0) pieces.push('{');
  pieces.push('}');
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
}

function timeText(time: string | null): string {
  return time === null ? 'null' : JSON.stringify(toWireTime(new Date(time)));
}

function parseArguments(json: WebhookContent['kwargs']): Record<string, unknown> {
  return parseStoredJson(json) as Record<string, unknown>;
}
