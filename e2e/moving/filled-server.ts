import type { Client } from '@langchain/langgraph-sdk';
import { waitFor } from '@runyard/test-kit';

/** Graphs of a project, by what their threads are. */
export interface MovedGraphs {
  /** Answers messages. */
  conversation: string;
  /** Stops with a question, and goes on with its answer. */
  asking: { graph: string; input: object };
}

export interface Contents {
  /** Values and next nodes of the newest state, by thread. */
  threads: Map<string, unknown>;
  assistants: unknown[];
  items: unknown[];
}

/** Threads that are made by runs; the others by supersteps, which takes a tenth of the time. */
const RUN_MAX = 300;
const AT_ONCE = 16;

/** Fills a server with threads that carry `mark` in their metadata, a tenth of which wait for an answer. */
export async function fillServer(client: Client, graphs: MovedGraphs, mark: string, threads: number): Promise<void> {
  const numbers = Array.from({ length: threads }, (_, number) => number).values();
  const work = async () => {
    for (const number of numbers) await addThread(client, graphs, { mark, number });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const config = { configurable: { tone: 'polite' } };
  const { assistant_id: id } = await client.assistants.create({ graphId: graphs.conversation, name: mark, config });
  await client.assistants.update(id, { graphId: graphs.conversation, name: `${mark} again`, config });
  await client.assistants.setLatest(id, 1);
  for (const key of ['one', 'two']) await client.store.putItem(['moved', mark], key, { key, list: [1, null, 'x'] });
}

async function addThread(
  client: Client,
  { conversation, asking }: MovedGraphs,
  { mark, number }: { mark: string; number: number },
): Promise<void> {
  const metadata = { mark, number };
  if (number >= RUN_MAX) {
    const messages = [{ type: 'human', content: `hello ${number}`, id: `m-${number}` }];
    const updates = ['__input__', '__start__'].map((asNode) => ({ updates: [{ values: { messages }, asNode }] }));
    await client.threads.create({ metadata, graphId: conversation, supersteps: updates });
    return;
  }
  const { thread_id: id } = await client.threads.create({ metadata });
  if (number % 10 === 0) await client.runs.wait(id, asking.graph, { input: asking.input as Record<string, unknown> });
  else {
    for (const turn of [1, 2]) {
      const messages = [{ role: 'user', content: `turn ${turn} of ${number}` }];
      await client.runs.wait(id, conversation, { input: { messages } });
    }
  }
}

/** Reads everything that carries the mark. */
export async function readContents(client: Client, mark: string): Promise<Contents> {
  const ids: string[] = [];
  for (let offset = 0; ; ) {
    const page = await client.threads.search({ metadata: { mark }, limit: 1_000, offset });
    ids.push(...page.map(({ thread_id }) => thread_id));
    if (page.length === 0) break;
    offset += page.length;
  }
  const threads = new Map<string, unknown>();
  const waiting = ids.sort().values();
  const work = async () => {
    for (const id of waiting) {
      const [{ values, next }, { metadata }] = await Promise.all([client.threads.getState(id), client.threads.get(id)]);
      threads.set(id, { values: withoutEmptyFields(values), next, number: metadata?.number });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const found = await client.assistants.search({ limit: 1_000 });
  const assistants = found
    .filter(({ name }) => name.startsWith(mark))
    .map(({ assistant_id, graph_id, name, version, config }) => ({ assistant_id, graph_id, name, version, config }));
  const { items } = await client.store.searchItems(['moved', mark], { limit: 100 });
  const byKey = items.map(({ namespace, key, value }) => ({ namespace, key, value }));
  return { threads: sortKeys(threads), assistants, items: byKey.sort((a, b) => a.key.localeCompare(b.key)) };
}

/** Servers differ in which empty fields of messages they answer with. */
function withoutEmptyFields(value: unknown): unknown {
  const isEmpty = (field: unknown) => field === null || field === false || isEmptyObject(field);
  return JSON.parse(JSON.stringify(value, (_key, field) => (isEmpty(field) ? undefined : field)) ?? 'null');
}

function isEmptyObject(field: unknown): boolean {
  return typeof field === 'object' && field !== null && Object.keys(field).length === 0;
}

function sortKeys(map: Map<string, unknown>): Map<string, unknown> {
  return new Map([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Waits until a server has that many threads of the mark. */
export async function waitForThreads(client: Client, mark: string, count: number): Promise<void> {
  await waitFor(async () => {
    const found = await client.threads.search({ metadata: { mark }, limit: 1_000, select: ['thread_id'] });
    return found.length >= count;
  });
}
