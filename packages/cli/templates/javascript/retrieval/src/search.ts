/**
 * Finds passages of the documents by meaning. They are in the store of the deployment, which embeds them as
 * `store.index` of langgraph.json says. The first search after a change of the files puts them there.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { BaseStore, LangGraphRunnableConfig } from '@langchain/langgraph';
import { tool } from 'langchain';
import { z } from 'zod';

const FOLDER = new URL('../documents/', import.meta.url);

export const searchDocuments = tool(
  async ({ query }, { store }: LangGraphRunnableConfig) => {
    if (!store) throw new Error('The server has no store.');
    const found = await store.search(await indexDocuments(store), { query, limit: 2 });
    return found.map(({ value }) => `${value.file}: ${value.text}`).join('\n\n') || 'Nothing was found.';
  },
  {
    name: 'search_documents',
    description: 'Finds the passages of the documents that are closest to a question.',
    schema: z.object({ query: z.string() }),
  },
);

/** Puts each passage of the documents into the store, once for each state of the files. Returns their namespace. */
async function indexDocuments(store: BaseStore): Promise<string[]> {
  const passages = await readPassages();
  const version = createHash('sha256').update(JSON.stringify(passages)).digest('hex').slice(0, 12);
  const namespace = ['documents', version];
  if (await store.get(['documents'], version)) return namespace;
  for (const [index, passage] of passages.entries()) await store.put(namespace, String(index), passage);
  await store.put(['documents'], version, { passages: passages.length }, false);
  return namespace;
}

async function readPassages(): Promise<{ file: string; text: string }[]> {
  const files = (await readdir(FOLDER)).filter((name) => name.endsWith('.md')).sort();
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, FOLDER), 'utf8')));
  return texts.flatMap((text, index) =>
    text
      .split(/\n\s*\n/)
      .map((passage) => passage.trim())
      .filter((passage) => passage !== '' && !passage.startsWith('#'))
      .map((passage) => ({ file: files[index] as string, text: passage })),
  );
}
