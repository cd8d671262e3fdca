import type { BoundOperation } from './bind.ts';

/** Wraps the handler of an operation. */
export type Middleware = (inner: BoundOperation) => BoundOperation;

/** Wraps each operation in all of `middleware`, which is listed outermost first. */
export function withMiddleware(
  operations: readonly BoundOperation[],
  middleware: readonly Middleware[],
): BoundOperation[] {
  return operations.map((operation) => middleware.reduceRight((inner, wrap) => wrap(inner), operation));
}
