import type { Assistant, AssistantCreate, AssistantPatch } from '@runyard/contracts';
import { isJsonObject, type JsonObject, orUndefined, stableJson } from '../../components/json-objects.ts';
import type { JsonSchema } from '../../components/schema-form-fields.ts';

/** An assistant as a form has it. `config` is without what the graph is configured with: that is `context`. */
export interface AssistantDraft {
  graph: string;
  name: string;
  description: string;
  context: unknown;
  config: unknown;
  metadata: unknown;
}

export type DraftField = keyof AssistantDraft;

export const EMPTY_DRAFT: AssistantDraft = {
  graph: '',
  name: '',
  description: '',
  context: undefined,
  config: undefined,
  metadata: undefined,
};

/** Returns the draft to change an assistant by. */
export function draftOf({ graph_id: graph, name, description, context, config, metadata }: Assistant): AssistantDraft {
  const { configurable, ...otherConfig } = config;
  const configured = { ...(configurable as JsonObject | undefined), ...context };
  return {
    graph,
    name,
    description: description ?? '',
    context: configured,
    config: orUndefined(otherConfig),
    metadata: orUndefined(metadata),
  };
}

/** Returns what is wrong with a draft, by field. */
export function faultsOfDraft(draft: AssistantDraft): Map<DraftField, string> {
  const faults = new Map<DraftField, string>();
  if (draft.name.trim() === '') faults.set('name', 'An assistant needs a name');
  for (const part of ['context', 'config', 'metadata'] as const) {
    if (draft[part] !== undefined && !isJsonObject(draft[part])) faults.set(part, 'Write it as an object: { … }');
  }
  if (isJsonObject(draft.config) && Object.hasOwn(draft.config, 'configurable'))
    faults.set('config', 'The context is what it has as `configurable`: write it there');
  return faults;
}

/** Returns the field that a sentence of the platform is about: `config.recursion_limit must be an integer`. */
export function fieldOfSentence(sentence: string): DraftField | undefined {
  const name = /^(graph_id|name|description|context|config|metadata)\b/.exec(sentence)?.[1];
  return name === 'graph_id' ? 'graph' : (name as DraftField | undefined);
}

/** Returns the request that makes the assistant. */
export function creationOf(draft: AssistantDraft): AssistantCreate {
  const { graph, name, description, context, config, metadata } = draft;
  return {
    graph_id: graph,
    name: name.trim(),
    ...(description.trim() !== '' && { description: description.trim() }),
    ...(context !== undefined && { context: context as JsonObject }),
    ...(config !== undefined && { config: config as JsonObject }),
    ...(metadata !== undefined && { metadata: metadata as JsonObject }),
  };
}

/** Returns the request that changes an assistant to a draft: only what differs; undefined where nothing does. */
export function patchOf(assistant: Assistant, draft: AssistantDraft): AssistantPatch | undefined {
  const before = draftOf(assistant);
  const isChanged = (part: keyof AssistantDraft) => stableJson(before[part] ?? {}) !== stableJson(draft[part] ?? {});
  const patch: AssistantPatch = {
    ...(isChanged('graph') && { graph_id: draft.graph }),
    ...(isChanged('name') && { name: draft.name.trim() }),
    ...(isChanged('description') && { description: draft.description.trim() || null }),
    ...(isChanged('context') && { context: (draft.context ?? {}) as JsonObject }),
    // A config that is sent alone would take the context away, which is a part of it.
    ...(isChanged('config') && {
      config: (draft.config ?? {}) as JsonObject,
      context: (draft.context ?? {}) as JsonObject,
    }),
    ...(isChanged('metadata') && { metadata: (draft.metadata ?? {}) as JsonObject }),
  };
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** Returns the keys of the metadata that a draft leaves out. The platform keeps these, as it merges. */
export function keptKeys({ metadata }: Assistant, draft: AssistantDraft): string[] {
  const written = isJsonObject(draft.metadata) ? draft.metadata : {};
  return Object.keys(metadata).filter((key) => !Object.hasOwn(written, key));
}

/** Returns the schema of what a graph is configured with; null where it names nothing. */
export function configurationSchema(
  schemas: { context_schema: JsonSchema | null; config_schema: JsonSchema | null } | undefined,
): JsonSchema | null {
  return withFields(schemas?.context_schema) ?? withFields(schemas?.config_schema);
}

function withFields(schema: JsonSchema | null | undefined): JsonSchema | null {
  return isJsonObject(schema?.properties) && Object.keys(schema.properties).length > 0 ? schema : null;
}
