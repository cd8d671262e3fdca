import { TRACEPARENT_KEY } from '@runyard/contracts';
import type { WebhookContent } from '@runyard/run-engine';
import { parseStoredJson } from '../threads/parse-stored-json.ts';
import { traceOfRun } from '../traces/trace-of-run.ts';

/** Returns the headers by which the receiver of a webhook continues the trace of the run; none for a run without. */
export function traceHeaders({ kwargs }: Pick<WebhookContent, 'kwargs'>): Record<string, string> {
  // Arguments may be large, and those of most runs need not be parsed for this.
  if (!Buffer.from(kwargs.buffer, kwargs.byteOffset, kwargs.byteLength).includes(TRACEPARENT_KEY)) return {};
  const { traceparent, tracestate } = traceOfRun(parseStoredJson(kwargs) as Record<string, unknown>) ?? {};
  return { ...(traceparent !== undefined && { traceparent }), ...(tracestate !== undefined && { tracestate }) };
}
