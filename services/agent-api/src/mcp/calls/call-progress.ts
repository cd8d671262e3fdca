import { isFields } from '../../http/fields.ts';
import type { FollowedEntry } from '../../streams/follow-run.ts';

export type ProgressToken = string | number;

/** The stream mode in which graphs report what they like, and that in which they report their steps. */
export const CUSTOM_MODE = 'custom';
export const STEP_MODE = 'updates';

/**
 * Makes progress notifications of what a run emits: its beginning, then `{progress, total?, message?}` of the graph itself
 * or, while it reports none, the steps that it has taken. Progress only grows.
 */
export class CallProgress {
  readonly #token: ProgressToken;
  #last = Number.NEGATIVE_INFINITY;
  #steps = 0;
  #isReported = false;

  constructor(token: ProgressToken) {
    this.#token = token;
  }

  /** Returns the notification for an entry, if it means progress. */
  notificationOf({ kind, event, data }: FollowedEntry): object | undefined {
    if (kind === 'metadata') return this.#notify({ progress: 0, message: 'started' });
    if (kind === CUSTOM_MODE) return this.#reported(JSON.parse(data));
    if (kind !== STEP_MODE || event !== STEP_MODE || this.#isReported) return undefined;
    this.#steps += 1;
    const update = JSON.parse(data) as unknown;
    const [message] = isFields(update) ? Object.keys(update) : [];
    return this.#notify({ progress: this.#steps, ...(message !== undefined && { message }) });
  }

  #reported(data: unknown): object | undefined {
    if (!isFields(data) || typeof data.progress !== 'number') return undefined;
    this.#isReported = true;
    const { progress, total, message } = data;
    return this.#notify({
      progress,
      ...(typeof total === 'number' && { total }),
      ...(typeof message === 'string' && { message }),
    });
  }

  #notify(params: { progress: number; total?: number; message?: string }): object | undefined {
    if (params.progress <= this.#last) return undefined;
    this.#last = params.progress;
    return { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: this.#token, ...params } };
  }
}
