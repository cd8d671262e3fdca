/** The project cannot be run: a broken `langgraph.json`, a graph that does not load. The message is for its author. */
export class GraphLoadError extends Error {
  readonly graphId: string | undefined;
  constructor(message: string, options?: ErrorOptions & { graphId?: string }) {
    super(message, options);
    this.name = 'GraphLoadError';
    this.graphId = options?.graphId;
  }
}

/**
 * A state request was refused: `not_found` (no such graph), `bad_request` (e.g. an unknown node), `failed` (the graph's own
 * code threw), or the reason of the backend it stumbled over.
 */
export class GraphRequestError extends Error {
  readonly reason: string;
  /** Of an update in supersteps: the one that failed, counted from 0, and as which node. */
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
