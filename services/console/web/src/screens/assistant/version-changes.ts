import type { AssistantVersion } from '@runyard/contracts';
import { diffJson, type JsonChange } from '../../components/json-diff.ts';

/** The content of a version, in which each thing stands once. */
export type VersionContent = Pick<AssistantVersion, 'graph_id' | 'name' | 'description' | 'context' | 'metadata'> & {
  config: Record<string, unknown>;
};

/** Returns what a version says. The context stands in its config a second time, which is left out. */
export function contentOf(version: AssistantVersion): VersionContent {
  const { graph_id, name, description, context, metadata } = version;
  const { configurable: _, ...config } = version.config;
  return { graph_id, name, description, context, config, metadata };
}

/** Lists what a version changed of the one before it. */
export function changesOf(version: AssistantVersion, before: AssistantVersion): JsonChange[] {
  return diffJson(contentOf(before), contentOf(version));
}

/** Names the parts that a version changed: `name, context`. */
export function changedParts(changes: readonly JsonChange[]): string {
  const parts = new Set(changes.map(({ path }) => String(path[0]).replace('graph_id', 'graph')));
  return [...parts].join(', ');
}
