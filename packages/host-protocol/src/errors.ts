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

export interface FailedStep {
  superstep: number;
  asNode: string | null;
}
