import { BackendError, type Embed } from '@runyard/checkpointer';
import { type EmbeddingsSource, type HostConnection, RemoteError, unpackVectors } from '@runyard/host-protocol';
import { inTime } from './in-time.ts';
import { loadError } from './remote-errors.ts';
import type { EmbedRequest, GraphHost } from './types.ts';

/** Milliseconds. A model that does not answer must not block the caller for ever. */
const TIMEOUT_MS = 60_000;

/** @throws GraphLoadError when the embeddings cannot be had, BackendError `embedding_failed` when they fail */
export async function requestEmbeddings(
  connection: HostConnection,
  { source, texts, as }: EmbedRequest,
  timeoutMs = TIMEOUT_MS,
): Promise<Float32Array[]> {
  const late = () => new Error(`no answer within ${timeoutMs / 1000} s`);
  try {
    const request = connection.request(0, { t: 'embed.texts', source, texts, as });
    const { ok, raw } = await inTime(request, timeoutMs, late);
    return unpackVectors(ok as number[], raw);
  } catch (cause) {
    if (cause instanceof RemoteError && cause.kind === 'load') throw loadError(cause);
    throw toEmbeddingError(cause);
  }
}

/** Returns the project's embeddings for its store. Every error becomes a failure of the embeddings alone. */
export function embeddingsOf(host: Pick<GraphHost, 'embed'>, source: EmbeddingsSource): Embed {
  return async (texts, as) => {
    try {
      return await host.embed({ source, texts, as });
    } catch (error) {
      throw error instanceof BackendError ? error : toEmbeddingError(error);
    }
  };
}

function toEmbeddingError(cause: unknown): BackendError {
  return new BackendError('embedding_failed', `The embeddings failed: ${(cause as Error).message}`, { cause });
}
