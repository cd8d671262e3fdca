import { isDeepStrictEqual } from 'node:util';
import { EncryptionError } from '@runyard/encryption';
import type { ProjectGraph } from '@runyard/host-protocol';
import { UNRESTRICTED } from '../access/scope.ts';
import { configurationOf } from './assistant-configuration.ts';
import { systemAssistantId } from './assistant-ids.ts';
import type { AssistantStore } from './assistant-store.ts';
import type { AssistantDefaults } from './assistant-variables.ts';
import type { AssistantVersionStore } from './assistant-version-store.ts';

/**
 * Ensures that each graph of the project has its default assistant, with the project's settings: when the graph's
 * description or its entry in `LANGGRAPH_CONFIG` has changed since the last start, the assistant gets a new version.
 * Until then changes that clients made stay. One that cannot be decrypted stays as it is, and is reported when it is
 * used. An assistant that a client made under the id, before there was the graph, gives way to the graph's own.
 */
export async function ensureSystemAssistants(
  { store, versions }: { store: AssistantStore; versions: AssistantVersionStore },
  graphs: readonly ProjectGraph[],
  defaults: AssistantDefaults,
): Promise<void> {
  for (const { graphId, description = null } of graphs) {
    const assistantId = systemAssistantId(graphId);
    const settings = { description, ...configurationOf(defaults[graphId] ?? {}) };
    const own = { graphId, name: graphId, metadata: { created_by: 'system' } };
    const isNew = await store.insert({ assistantId, ...own, ...settings, projectSettings: settings });
    if (isNew) continue;
    const apply = versions.change(UNRESTRICTED, assistantId, (current) => {
      if (!current.isSystem) return { content: { ...own, ...settings }, projectSettings: settings };
      return isDeepStrictEqual(current.projectSettings, settings)
        ? undefined
        : { content: { ...current, ...settings }, projectSettings: settings };
    });
    await apply.catch((error: unknown) => {
      if (!(error instanceof EncryptionError)) throw error;
    });
  }
}
