import { NotFoundError, UnprocessableError } from '@runyard/service-kit';
import type { AssistantRecord } from './assistant-record.ts';

/** Versions of assistants of which something is remembered. */
const REMEMBERED_MAX = 1_000;

interface Remembered<Value> {
  value: Promise<Value>;
  /** Milliseconds since 1970. */
  until: number;
}

export interface RememberedOptions<Value> {
  /** Looks at the graph of an assistant, which may be slow. Failures are not remembered. */
  look(assistantId: string): Promise<Value>;
  /** The value of an assistant that is gone, or whose graph cannot be looked at. */
  unknown: Value;
  /** Returns for how many milliseconds a value is remembered; default: as long as there is room. */
  keptMs?(value: Value): number;
}

type Version = Pick<AssistantRecord, 'assistantId' | 'version'>;

/** Remembers something about the graphs of assistants, by version. */
export class RememberedByVersion<Value> {
  readonly #options: RememberedOptions<Value>;
  readonly #remembered = new Map<string, Remembered<Value>>();

  constructor(options: RememberedOptions<Value>) {
    this.#options = options;
  }

  /** The caller has found the assistant within its own scope. */
  of({ assistantId, version }: Version): Promise<Value> {
    const key = `${assistantId} ${version}`;
    const known = this.#remembered.get(key);
    if (known && known.until > Date.now()) return known.value;
    const value = this.#look(assistantId);
    const remembered: Remembered<Value> = { value, until: Number.POSITIVE_INFINITY };
    value.then(
      (found) => {
        remembered.until = Date.now() + (this.#options.keptMs?.(found) ?? Number.POSITIVE_INFINITY);
      },
      () => this.#remembered.delete(key),
    );
    this.#remembered.set(key, remembered);
    if (this.#remembered.size > REMEMBERED_MAX) this.#remembered.delete(this.#remembered.keys().next().value!);
    return value;
  }

  async #look(assistantId: string): Promise<Value> {
    try {
      return await this.#options.look(assistantId);
    } catch (error) {
      if (error instanceof NotFoundError || error instanceof UnprocessableError) return this.#options.unknown;
      throw error;
    }
  }
}
