import type { ParityContext, ParityRequest } from './context.ts';

interface CaseBase {
  /** The promise to a client: the name of the test and the text of the parity table. */
  promise: string;
  /**
   * Fails by an assertion, at once, when the promise is not kept. It must not depend on other cases nor on their order.
   */
  run(context: ParityContext): Promise<unknown>;
}

/** Shows that a field of requests does what it says; it runs a second time behind a proxy that removes the field. */
export interface FieldCase extends CaseBase {
  kind: 'field';
  /** The operations it is shown for; each is a test, with its id in `context.operation`. */
  operations: string[];
  /**
   * The path of the field: `body.config.tags`, `body.supersteps[].updates`, `body[].input`, `query.limit`,
   * `header.prefer`.
   */
  field: string;
}

/** Brings an operation to a documented answer. */
export interface StatusCase extends CaseBase {
  kind: 'status';
  operation: string;
  status: number;
  run(context: ParityContext): Promise<{ status: number }>;
}

/**
 * An effect inside the server, or between it and others than the client, which a test of the responsible part shows.
 */
export interface ElsewhereCase {
  kind: 'elsewhere';
  operation: string;
  /** The status that is shown; left out for a field. */
  status?: number;
  /** The field that is shown, beside a case that sends it. */
  field?: string;
  /** The name of that test. */
  promise: string;
  /** The test's file, from the root of the repository. */
  test: string;
}

export type ParityCase = FieldCase | StatusCase | ElsewhereCase;

export function fieldCase(definition: Omit<FieldCase, 'kind'>): FieldCase {
  return { kind: 'field', ...definition };
}

export function statusCase(definition: Omit<StatusCase, 'kind'>): StatusCase {
  return { kind: 'status', ...definition };
}

/** Returns a status case of a single request, which may need some preparation. */
export function answerCase(
  operation: string,
  status: number,
  promise: string,
  request: ParityRequest | ((context: ParityContext) => Promise<ParityRequest>),
): StatusCase {
  return statusCase({
    operation,
    status,
    promise,
    run: async (ctx) => ctx.call(operation, typeof request === 'function' ? await request(ctx) : request),
  });
}

export function shownElsewhere(definition: Omit<ElsewhereCase, 'kind'>): ElsewhereCase {
  return { kind: 'elsewhere', ...definition };
}
