import type { ErrorCode } from '@runyard/contracts';

/** The project cannot be run: `langgraph.json` is invalid, or a graph does not load. The message is for its author. */
export class GraphLoadError extends Error {
  readonly code = 'graph_load_failed' satisfies ErrorCode;
  readonly graphId: string | undefined;
  constructor(message: string, options?: ErrorOptions & { graphId?: string }) {
    super(message, options);
    this.name = 'GraphLoadError';
    this.graphId = options?.graphId;
  }
}

/**
 * A state request was refused. Reasons: `not_found` (no such graph), `bad_request` (e.g. an unknown node), `failed`
 * (the graph's own code threw), or the reason of a failed backend.
 */
export class GraphRequestError extends Error {
  readonly reason: string;
  /** The update that failed in an update with supersteps: its superstep, counted from 0, and its node. */
  readonly step: FailedStep | undefined;
  constructor(reason: string, message: string, options?: ErrorOptions & { name?: string; step?: FailedStep }) {
    super(message, options);
    this.name = options?.name ?? 'GraphRequestError';
    this.reason = reason;
    this.step = options?.step;
  }
}

/**
 * A handler of the project's auth object gave no answer that allows or refuses. Reasons: `failed` (it threw, or returned
 * nonsense), `late` (it took too long), `gone` (its host exited). Nothing is allowed then.
 */
export class AuthHandlerError extends Error {
  readonly reason: 'failed' | 'late' | 'gone';
  constructor(reason: 'failed' | 'late' | 'gone', handler: string, message: string, options?: ErrorOptions) {
    super(`The auth handler ${handler} gave no answer: ${message}`, options);
    this.name = 'AuthHandlerError';
    this.reason = reason;
  }
}

/**
 * A handler of the project's encryption object gave no answer. Reasons: `failed` (it threw, or returned nonsense),
 * `late` (it took too long), `gone` (its host exited). Nothing is written or read then.
 */
export class EncryptionHandlerError extends Error {
  readonly reason: 'failed' | 'late' | 'gone';
  constructor(reason: 'failed' | 'late' | 'gone', handler: string, message: string, options?: ErrorOptions) {
    super(`The encryption handler ${handler} gave no answer: ${message}`, options);
    this.name = 'EncryptionHandlerError';
    this.reason = reason;
  }
}

export interface FailedStep {
  superstep: number;
  asNode: string | null;
}
