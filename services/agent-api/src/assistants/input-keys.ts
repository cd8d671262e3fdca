import { NotFoundError, UnprocessableError } from '@runyard/service-kit';
import { UNRESTRICTED } from '../access/scope.ts';
import type { AssistantGraphService } from './assistant-graph-service.ts';
import type { AssistantRecord } from './assistant-record.ts';

type Keys = ReadonlySet<string> | undefined;

/** Versions of assistants whose keys are remembered. */
const REMEMBERED_MAX = 1_000;

/** Knows the keys of the input of assistants. A factory may be slow: answers are remembered, by version. */
export class InputKeys {
  readonly #graphs: Pick<AssistantGraphService, 'inputKeys'>;
  readonly #remembered = new Map<string, Promise<Keys>>();

  constructor(graphs: Pick<AssistantGraphService, 'inputKeys'>) {
    this.#graphs = graphs;
  }

  /** Returns undefined when they are not known. The caller has found the assistant within its own scope. */
  of({ assistantId, version }: Pick<AssistantRecord, 'assistantId' | 'version'>): Promise<Keys> {
    const name = `${assistantId} ${version}`;
    let keys = this.#remembered.get(name);
    if (!keys) {
      keys = this.#look(assistantId);
      this.#remembered.set(name, keys);
      keys.catch(() => this.#remembered.delete(name));
      if (this.#remembered.size > REMEMBERED_MAX) this.#remembered.delete(this.#remembered.keys().next().value!);
    }
    return keys;
  }

  async #look(assistantId: string): Promise<Keys> {
    try {
      return await this.#graphs.inputKeys({ scope: UNRESTRICTED, headers: {} }, assistantId);
    } catch (error) {
      if (error instanceof NotFoundError || error instanceof UnprocessableError) return undefined;
      throw error;
    }
  }
}
