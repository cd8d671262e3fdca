import { NotFoundError, UnprocessableError } from '@runyard/service-kit';
import type { AssistantRecord } from './assistant-record.ts';

/** Versions of assistants of which something is remembered, and bytes of all that: schemas may be large. */
const REMEMBERED_MAX = { versions: 1_000, bytes: 64 * 1024 * 1024 };

interface Remembered<Value> {
  value: Promise<Value>;
  /** Zero while it is being looked for. */
  bytes: number;
  /** Milliseconds since 1970. */
  until: number;
}

export interface RememberedOptions<Value> {
  /** Looks at the graph of an assistant, which may be slow. Failures are not remembered. */
  look(assistantId: string): Promise<Value>;
  /** The value of an assistant that is gone, or whose graph cannot be looked at. */
  unknown: Value;
  /** Returns about how many bytes a value takes. */
  bytesOf(value: Value): number;
  /** Returns for how many milliseconds a value is remembered; default: as long as there is room. */
  keptMs?(value: Value): number;
}

type Version = Pick<AssistantRecord, 'assistantId' | 'version'>;

/** Remembers something about the graphs of assistants, by version. */
export class RememberedByVersion<Value> {
  readonly #options: RememberedOptions<Value>;
  readonly #remembered = new Map<string, Remembered<Value>>();
  #bytes = 0;

  constructor(options: RememberedOptions<Value>) {
    this.#options = options;
  }

  /** The caller has found the assistant within its own scope. */
  of({ assistantId, version }: Version): Promise<Value> {
    const key = `${assistantId} ${version}`;
    const known = this.#remembered.get(key);
    if (known && known.until > Date.now()) return known.value;
    this.#forget(key);
    const value = this.#look(assistantId);
    const remembered: Remembered<Value> = { value, bytes: 0, until: Number.POSITIVE_INFINITY };
    this.#remembered.set(key, remembered);
    const isForgotten = () => this.#remembered.get(key) !== remembered;
    value.then(
      (found) => {
        remembered.until = Date.now() + (this.#options.keptMs?.(found) ?? Number.POSITIVE_INFINITY);
        if (isForgotten()) return;
        remembered.bytes = this.#options.bytesOf(found);
        this.#bytes += remembered.bytes;
        this.#forgetOldest();
      },
      () => {
        if (!isForgotten()) this.#forget(key);
      },
    );
    this.#forgetOldest();
    return value;
  }

  #forgetOldest(): void {
    const { versions, bytes } = REMEMBERED_MAX;
    for (const key of this.#remembered.keys()) {
      if (this.#remembered.size <= versions && this.#bytes <= bytes) return;
      this.#forget(key);
    }
  }

  #forget(key: string): void {
    this.#bytes -= this.#remembered.get(key)?.bytes ?? 0;
    this.#remembered.delete(key);
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
