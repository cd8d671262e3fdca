import { v5 as uuidv5 } from 'uuid';
import type { AssistantStore } from './assistant-store.ts';

/** The namespace in which a graph's default assistant has its id, the same on every server. */
const NAMESPACE = '6ba7b821-9dad-11d1-80b4-00c04fd430c8';

/** The id of a graph's default assistant. */
export function systemAssistantId(graphId: string): string {
  return uuidv5(graphId, NAMESPACE);
}

/** Sees to it that each graph of the project has its default assistant. */
export async function ensureSystemAssistants(store: AssistantStore, graphIds: readonly string[]): Promise<void> {
  for (const graphId of graphIds) {
    await store.insert({
      assistantId: systemAssistantId(graphId),
      graphId,
      name: graphId,
      description: null,
      config: {},
      context: {},
      metadata: { created_by: 'system' },
      isSystem: true,
    });
  }
}
