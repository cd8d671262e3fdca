import { BackendError } from '@runyard/checkpointer';
import { type Connection, RemoteError } from '../protocol/connection.ts';
import { unpackVectors } from '../protocol/vectors.ts';
import type { EmbedRequest } from '../types.ts';

/** A model that does not answer must not hold up the caller for ever. */
const TIMEOUT_MS = 60_000;

/** @throws BackendError `embedding_failed`, or `unavailable` when the host is gone */
export async function embedTexts(
  connection: Connection,
  { source, texts, as }: EmbedRequest,
  timeoutMs = TIMEOUT_MS,
): Promise<Float32Array[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `The embeddings did not answer within ${timeoutMs / 1000} s.`;
    timer = setTimeout(() => reject(new BackendError('embedding_failed', message)), timeoutMs);
  });
  try {
    const request = connection.request(0, { t: 'embed.texts', source, texts, as });
    const { ok, raw } = await Promise.race([request, late]);
    return unpackVectors(ok as number[], raw);
  } catch (cause) {
    if (cause instanceof BackendError) throw cause;
    const message = (cause as Error).message;
    if (!(cause instanceof RemoteError)) throw new BackendError('unavailable', message, { cause });
    throw new BackendError('embedding_failed', `The embeddings failed: ${message}`, { cause });
  } finally {
    clearTimeout(timer);
  }
}
