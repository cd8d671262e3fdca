import type { AgentServer } from '../agent-server/agent-server.ts';
import { isSame } from './compare.ts';
import { type CopyContext, copyWatched } from './copy-context.ts';

interface Item {
  namespace: string[];
  key: string;
  value: Record<string, unknown>;
  updated_at: string;
}

/** Copies the items of the store. @returns whether the source changed meanwhile */
export async function copyItems(context: CopyContext): Promise<{ hasChanged: boolean }> {
  const list = { read: () => listItems(context.source), idOf, identityOf };
  return copyWatched(list, context, (item) => copyItem(item, context));
}

const idOf = ({ namespace, key }: Item) => `${namespace.join('.')}/${key}`;
const identityOf = (item: Item) => `${JSON.stringify([item.namespace, item.key])} ${item.updated_at}`;

function listItems(source: AgentServer): AsyncGenerator<Item[]> {
  // Reading must not prolong how long the source keeps an item.
  const everything = { namespace_prefix: [], refresh_ttl: false };
  return source.search('/store/items/search', everything, (answer) => (answer as { items?: unknown } | null)?.items);
}

async function copyItem(item: Item, { target, tally, isDryRun }: CopyContext): Promise<void> {
  const { namespace, key, value } = item;
  const existing = await readItem(target, item);
  if (existing && isSame(value, existing.value)) return tally.add('present', idOf(item));
  if (existing && Date.parse(existing.updated_at) >= Date.parse(item.updated_at)) {
    return tally.add('different', idOf(item), 'at the target it has another value, which is newer');
  }
  if (!isDryRun) {
    await target.call('PUT', '/store/items', { namespace, key, value });
    const written = await readItem(target, item);
    if (!isSame(value, written?.value)) {
      return tally.add('different', idOf(item), 'the target made another value of it');
    }
  }
  tally.add('copied', idOf(item));
}

function readItem(server: AgentServer, { namespace, key }: Item): Promise<Item | null> {
  const query = new URLSearchParams({ namespace: namespace.join('.'), key, refresh_ttl: 'false' });
  return server.call<Item | null>('GET', `/store/items?${query}`);
}
