import type { A2aPart } from '@runyard/contracts';
import { lastAnswer, messagesIn } from '../../a2a/tasks/state-messages.ts';
import { isFields } from '../../http/fields.ts';
import type { McpClient } from '../protocol/client.ts';
import { hasStructure } from '../tools/tool.ts';
import type { CallEnd } from './call-end.ts';

/** The result of `tools/call`. */
export interface ToolResult {
  content: object[];
  structuredContent?: unknown;
  isError?: true;
}

/**
 * Returns the result of a call. The state of the graph is there as JSON, and what its agent made of media beside it.
 */
export function toToolResult(end: CallEnd, client: Pick<McpClient, 'revision' | 'isNew'>): ToolResult {
  switch (end.kind) {
    case 'failed':
      return failure(`${end.error.error}: ${end.error.message}`);
    case 'cancelled':
      return failure('The call was cancelled');
    case 'deleted':
      return failure('The run of the call was deleted');
    default:
      return success(end.values, client);
  }
}

function success(values: unknown, { revision, isNew }: Pick<McpClient, 'revision' | 'isNew'>): ToolResult {
  const messages = messagesIn(values) ?? [];
  // Old clients take objects alone.
  const isShown = isNew || (hasStructure(revision) && isFields(values));
  return {
    content: [{ type: 'text', text: JSON.stringify(values ?? null) }, ...(lastAnswer(messages) ?? []).flatMap(toMedia)],
    ...(isShown && { structuredContent: values ?? null }),
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
  const [kind] = mimeType.split('/');
  if (kind === 'image' || kind === 'audio') return [{ type: kind, data: raw, mimeType }];
  return [{ type: 'resource', resource: { uri: `attachment:///${encodeURIComponent(name)}`, mimeType, blob: raw } }];
}
