import { createHash } from 'node:crypto';
import type { SendRequest } from './send-request.ts';

/**
 * Returns the name by which a message is known again when it is sent again: only in a context or a task that it names,
 * as some clients send equal messages without one on purpose. Another content under the same id is another message.
 */
export function nameOfMessage(
  { message, command, context }: SendRequest,
  { user, assistantId }: { user: string; assistantId: string },
): string[] | undefined {
  const { contextId = '', taskId = '', messageId, ...content } = message;
  if (contextId === '' && taskId === '') return undefined;
  const digest = createHash('sha256')
    .update(JSON.stringify([content, command ?? null, context ?? null]))
    .digest('hex');
  return ['a2a', user, assistantId, contextId.toLowerCase(), taskId.toLowerCase(), messageId, digest];
}
