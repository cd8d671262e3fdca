/** What the child refused, as the errors that callers know. Anything else stays what it is. */
import { GraphLoadError, GraphRequestError } from '../errors.ts';
import { RemoteError } from '../protocol/connection.ts';

export function loadError(error: unknown): unknown {
  if (!(error instanceof RemoteError)) return error;
  const { message, graphId } = error;
  return new GraphLoadError(message, { cause: error, ...(graphId !== undefined && { graphId }) });
}

export function requestError(error: unknown): unknown {
  if (!(error instanceof RemoteError)) return error;
  const { kind, message, name, step } = error;
  return new GraphRequestError(kind, message, { name, cause: error, ...(step && { step }) });
}
