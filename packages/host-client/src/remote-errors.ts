/** Maps refusals of the child to the errors that callers know. Other errors stay as they are. */
import { GraphLoadError, GraphRequestError, RemoteError } from '@runyard/host-protocol';

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
