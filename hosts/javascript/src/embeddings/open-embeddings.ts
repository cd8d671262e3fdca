/** Opens embeddings in every form in which a project may name them. */
import { dirname } from 'node:path';
import { type EmbeddingsSource, GraphLoadError } from '@runyard/host-protocol/graph-process';
import { importSymbol } from '../loading/import-symbol.ts';
import { providerEmbeddings } from './providers.ts';

export interface Embeddings {
  embedDocuments(texts: string[]): Promise<number[][]>;
  embedQuery(text: string): Promise<number[]>;
}

const opened = new Map<string, Promise<Embeddings>>();

/** Opens each source once, and again after a failure. @throws GraphLoadError */
export function openEmbeddings(source: EmbeddingsSource): Promise<Embeddings> {
  const name = JSON.stringify(source);
  let embeddings = opened.get(name);
  if (!embeddings) {
    embeddings = open(source);
    opened.set(name, embeddings);
    embeddings.catch(() => opened.delete(name));
  }
  return embeddings;
}

/** Returns the vectors of the texts, in their order. */
export async function embedTexts(
  { embedDocuments, embedQuery }: Embeddings,
  texts: string[],
  as: 'documents' | 'query',
): Promise<Float32Array[]> {
  const vectors = as === 'query' ? await Promise.all(texts.map(embedQuery)) : await embedDocuments(texts);
  if (!Array.isArray(vectors) || !vectors.every(isList)) throw new TypeError('no list of vectors was answered');
  return vectors.map((vector) => Float32Array.from(vector));
}

async function open(source: EmbeddingsSource): Promise<Embeddings> {
  const found =
    source.kind === 'provider' ? await providerEmbeddings(source) : await importSymbol(source, dirname(source.file));
  if (typeof found === 'function') {
    const embedDocuments = async (texts: string[]) => (await found(texts)) as number[][];
    return {
      embedDocuments,
      embedQuery: async (text) => (await embedDocuments([text]))[0] as number[],
    };
  }
  if (!isEmbeddings(found)) {
    const name = source.kind === 'provider' ? source.provider : `The export "${source.symbol}"`;
    throw new GraphLoadError(`${name} is neither a function of texts nor LangChain embeddings.`);
  }
  return {
    embedDocuments: (texts) => found.embedDocuments(texts),
    embedQuery: (text) => found.embedQuery(text),
  };
}

function isEmbeddings(value: unknown): value is Embeddings {
  if (typeof value !== 'object' || value === null) return false;
  const { embedDocuments, embedQuery } = value as Partial<Embeddings>;
  return typeof embedDocuments === 'function' && typeof embedQuery === 'function';
}

function isList(vector: unknown): vector is ArrayLike<number> {
  return Array.isArray(vector) || ArrayBuffer.isView(vector);
}
