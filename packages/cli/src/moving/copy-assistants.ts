import type { AgentServer } from '../agent-server/agent-server.ts';
import { isObject } from '../agent-server/json.ts';
import { findDifference, isSame } from './compare.ts';
import { type CopyContext, copyEach, type TargetGraphs } from './copy-context.ts';
import { requireUuid } from './uuid.ts';

interface Assistant {
  assistant_id: string;
  graph_id: string;
  name: string;
  description?: string | null;
  config: Record<string, unknown>;
  context?: Record<string, unknown>;
  metadata: Record<string, unknown> | null;
  version: number;
}

/** The largest number that servers answer at once. */
const VERSIONS_MAX = 1_000;

const isDefault = ({ metadata }: Assistant) => metadata?.created_by === 'system';

/** Finds the graphs of a server by their default assistants. */
export async function readGraphs(server: AgentServer): Promise<TargetGraphs> {
  const graphs: TargetGraphs = new Map();
  const filter = { metadata: { created_by: 'system' } };
  for await (const page of server.search<Assistant>('/assistants/search', filter)) {
    for (const { graph_id, assistant_id } of page) graphs.set(graph_id, { assistantId: assistant_id });
  }
  return graphs;
}

/** Copies assistants with their versions. Default assistants of graphs are the target's own. */
export async function copyAssistants(context: CopyContext): Promise<void> {
  const pages = context.source.search<Assistant>('/assistants/search', { sort_by: 'created_at', sort_order: 'asc' });
  await copyEach(
    withoutDefaults(pages),
    context,
    ({ assistant_id }) => assistant_id,
    (assistant) => copyAssistant(assistant, context),
  );
}

async function* withoutDefaults(pages: AsyncIterable<Assistant[]>): AsyncGenerator<Assistant[]> {
  for await (const page of pages) yield page.filter((assistant) => !isDefault(assistant));
}

async function copyAssistant(
  { assistant_id: id, graph_id, version }: Assistant,
  { source, target, tally, graphs, isDryRun }: CopyContext,
): Promise<void> {
  requireUuid(id, 'assistant_id');
  if (!graphs.has(graph_id)) return tally.add('skipped', id, `the target has no graph ${graph_id}`);
  const path = `/assistants/${id}`;
  const versions = await readVersions(source, path);
  const existing = await target.find<Assistant>(path);
  const known = existing ? await readVersions(target, path) : [];
  const changed = known.findIndex(
    (made, index) => versions[index] === undefined || !isSameVersion(versions[index], made),
  );
  if (changed !== -1) return tally.add('different', id, 'at the target it is another one');
  if (existing?.version === version && known.length === versions.length) return tally.add('present', id);
  if (isDryRun) return tally.add('copied', id);
  for (const made of versions.slice(known.length)) {
    if (made.version === 1) await target.call('POST', '/assistants', { assistant_id: id, ...fieldsOf(made) });
    // Each change makes a version, so a lost answer is not asked for again: the next run sees what there is.
    else await target.call('PATCH', path, fieldsOf(made), { isRepeatable: false });
  }
  await target.call('POST', `${path}/latest`, { version });
  const copies = await readVersions(target, path);
  const different = versions.find((made, index) => copies[index] === undefined || !isSameVersion(made, copies[index]));
  if (different) return tally.add('different', id, 'the target made another one of it');
  tally.add('copied', id);
}

/** Returns the versions from the first on. */
async function readVersions(server: AgentServer, path: string): Promise<Assistant[]> {
  const versions = await server.call<Assistant[]>('POST', `${path}/versions`, { limit: VERSIONS_MAX });
  return versions.sort((one, other) => one.version - other.version);
}

function isSameVersion(one: Assistant, other: Assistant): boolean {
  return findDifference(comparable(one), comparable(other), '') === null;
}

function comparable(assistant: Assistant): Record<string, unknown> {
  const { graph_id, name, description, version, metadata } = assistant;
  return { graph_id, name, description: description ?? null, version, metadata, config: configOf(assistant) };
}

/** Some servers answer `context` as `config.configurable` too, and take only one of them. */
function configOf({ config, context }: Assistant): Record<string, unknown> {
  const { configurable, ...rest } = config;
  if (isObject(configurable) && Object.keys(configurable).length > 0) return { ...rest, configurable };
  return isObject(context) && Object.keys(context).length > 0 ? { ...rest, configurable: context } : rest;
}

function fieldsOf(assistant: Assistant): Record<string, unknown> {
  const { graph_id, name, description, metadata, config, context } = assistant;
  const isOneOfBoth =
    isSame(context ?? {}, {}) || isSame(config.configurable ?? {}, {}) || isSame(context, config.configurable);
  return {
    graph_id,
    name,
    metadata,
    ...(typeof description === 'string' && { description }),
    ...(isOneOfBoth ? { config: configOf(assistant) } : { config, context }),
  };
}
