import { randomUUID } from 'node:crypto';
import { BackendError } from '../../backend.ts';
import { parseTextPath, type TextPath, textsAt } from '../../store/text-paths.ts';
import type { OperationOf } from './operations.ts';

/**
 * Turns texts into vectors, one for each in their order. Some models embed queries in another way than documents.
 *
 * @throws BackendError `embedding_failed`
 */
export type Embed = (texts: string[], as: 'documents' | 'query') => Promise<ArrayLike<number>[]>;

export interface StoreIndex {
  /**
   * Name of the embeddings, such as `openai:text-embedding-3-small`. Vectors of different embeddings are never
   * compared.
   */
  embeddings: string;
  dims: number;
  /** Paths to the texts that are embedded by default; `$` is the whole value. */
  fields: string[];
}

/** The vectors of one item, each of length 1. */
export interface ItemVectors {
  embeddingId: string;
  vectors: Float32Array[];
}

/** A list in a value can have any length, and each of its texts costs a vector. */
const TEXTS_PER_ITEM_MAX = 1_000;
const TEXTS_PER_CALL_MAX = 512;

export class ItemEmbedder {
  readonly #index: StoreIndex;
  readonly #fields: TextPath[];

  constructor(index: StoreIndex) {
    this.#index = index;
    this.#fields = index.fields.map(parseTextPath);
  }

  /** Names vectors that may be compared with each other. */
  get space(): string {
    return `${this.#index.embeddings}/${this.#index.dims}`;
  }

  /** Returns the vectors of the puts that have any text to embed. Every text is embedded once. @throws BackendError */
  async vectorsOf(puts: OperationOf<'put'>[], embed: Embed): Promise<Map<OperationOf<'put'>, ItemVectors>> {
    const texts = new Map(puts.map((put) => [put, this.#textsOf(put)]));
    const distinct = [...new Set([...texts.values()].flat())];
    const vectors = new Map<string, Float32Array>();
    for (let from = 0; from < distinct.length; from += TEXTS_PER_CALL_MAX) {
      const part = distinct.slice(from, from + TEXTS_PER_CALL_MAX);
      const made = await embed(part, 'documents');
      for (const [position, text] of part.entries()) vectors.set(text, this.#unit(made[position]));
    }
    const embedded = [...texts].filter(([, own]) => own.length > 0);
    return new Map(
      embedded.map(([put, own]) => {
        const ofItem = own.map((text) => vectors.get(text) as Float32Array);
        return [put, { embeddingId: randomUUID(), vectors: ofItem }];
      }),
    );
  }

  /** @throws BackendError */
  async vectorOfQuery(query: string, embed: Embed): Promise<Float32Array> {
    const [vector] = await embed([query], 'query');
    return this.#unit(vector);
  }

  #textsOf({ value, index }: OperationOf<'put'>): string[] {
    if (value === null || index === false) return [];
    const paths = index ? index.map(parseTextPath) : this.#fields;
    const texts = paths.flatMap((path) => textsAt(value, path));
    if (texts.length > TEXTS_PER_ITEM_MAX) {
      throw new BackendError('invalid', `value has more than ${TEXTS_PER_ITEM_MAX} texts to embed`);
    }
    return texts;
  }

  /**
   * Scales a vector to length 1, so that the product of two is the cosine of their angle. A zero vector stays as it is.
   */
  #unit(vector: ArrayLike<number> | undefined): Float32Array {
    const { dims, embeddings } = this.#index;
    if (vector?.length !== dims) {
      const told = vector ? `vectors of ${vector.length} dimensions` : 'too few vectors';
      throw new BackendError('embedding_failed', `${embeddings} makes ${told}, and store.index.dims is ${dims}.`);
    }
    const values = Float64Array.from(vector);
    const length = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
    if (!Number.isFinite(length)) {
      throw new BackendError('embedding_failed', `${embeddings} makes vectors that are not numbers.`);
    }
    return Float32Array.from(values, (value) => (length === 0 ? 0 : value / length));
  }
}
