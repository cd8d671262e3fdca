import { GraphRequestError } from '@runyard/host-protocol';
import { AppError, BadRequestError, NotFoundError, UnprocessableError } from '@runyard/service-kit';

/**
 * Maps the failure of supersteps to an answer that says which step, as which node, on the thread that was not created.
 * An unknown graph is a fault of the request too.
 */
export function superstepError(threadId: string, error: unknown): unknown {
  if (!(error instanceof AppError)) return error;
  const { cause } = error;
  const step = cause instanceof GraphRequestError ? cause.step : undefined;
  const body = { metadata: { thread_id: threadId, superstep: step?.superstep ?? 0, as_node: step?.asNode ?? null } };
  if (error instanceof BadRequestError || error instanceof NotFoundError) {
    return new BadRequestError(error.message, { cause, body });
  }
  return error instanceof UnprocessableError
    ? new UnprocessableError(error.message, { code: error.code, cause, body })
    : error;
}
