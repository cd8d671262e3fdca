import type { IncomingHttpHeaders } from 'node:http';
import { invalidParams } from './a2a-error.ts';

/** The extension by which clients choose which messages the history of a task shows. */
export const HISTORY_SCOPE_EXTENSION = 'https://langchain.com/a2a/extensions/history-scope/v1';

/** `task`: the messages of the task; `context`: all messages of its thread. */
export type HistoryScope = 'task' | 'context';

/** Returns the scope that a request asks for, by a parameter or the header of the extension. @throws A2aError */
export function historyScopeOf(params: Record<string, unknown>, headers: IncomingHttpHeaders): HistoryScope {
  const asked = params.historyScope ?? headers['langgraph-a2a-history-scope'] ?? 'task';
  if (asked === 'task' || asked === 'context') return asked;
  throw invalidParams('historyScope', 'must be "task" or "context"');
}
