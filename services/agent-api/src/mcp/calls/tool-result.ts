import type { A2aPart } from '@runyard/contracts';
import { lastAnswer, messagesIn } from '../../a2a/tasks/state-messages.ts';
import { isFields } from '../../http/fields.ts';
import type { McpClient } from '../protocol/client.ts';
import { JsonBytes } from '../protocol/json-bytes.ts';
import { hasStructure } from '../tools/tool.ts';
import { type CallEnd, STATE_BYTES_MAX } from './call-end.ts';

/** The result of `tools/call`. */
export interface ToolResult {
  content: object[];
  structuredContent?: unknown;
  isError?: true;
}

const MIB = 1024 * 1024;

/**
 * Returns the result of a call. The state of the graph is there as JSON, and what its agent made of media beside it:
 * large values are bytes, so that nothing of the state is held but these.
 */
export function toToolResult(end: CallEnd, client: Pick<McpClient, 'revision' | 'isNew'>): ToolResult {
  switch (end.kind) {
    case 'failed':
      return failure(`${end.error.error}: ${end.error.message}`);
    case 'cancelled':
      return failure('The call was cancelled');
    case 'deleted':
      return failure('The run of the call was deleted');
    case 'too large':
      return failure(
        `The graph ended with a state of more than ${STATE_BYTES_MAX / MIB} MiB, which no answer takes. Thread ${end.threadId} has it.`,
      );
    default:
      return success(end.values, client);
  }
}

function success(values: unknown, { revision, isNew }: Pick<McpClient, 'revision' | 'isNew'>): ToolResult {
  const messages = messagesIn(values) ?? [];
  // Old clients take objects alone.
  const isShown = isNew || (hasStructure(revision) && isFields(values));
  const state = JSON.stringify(values ?? null);
  return {
    content: [{ type: 'text', text: JsonBytes.of(state) }, ...(lastAnswer(messages) ?? []).flatMap(toMedia)],
    ...(isShown && { structuredContent: new JsonBytes(Buffer.from(state)) }),
  };
}

function failure(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

function toMedia({ raw, url, mediaType, filename }: A2aPart): object[] {
  const mimeType = mediaType ?? 'application/octet-stream';
  const name = filename ?? 'attachment';
  if (url !== undefined) return [{ type: 'resource_link', uri: url, name, mimeType }];
  if (raw === undefined) return [];
  const data = JsonBytes.of(raw);
  const [kind] = mimeType.split('/');
  if (kind === 'image' || kind === 'audio') return [{ type: kind, data, mimeType }];
  return [{ type: 'resource', resource: { uri: `attachment:///${encodeURIComponent(name)}`, mimeType, blob: data } }];
}
