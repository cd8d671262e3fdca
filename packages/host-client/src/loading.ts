import { GraphLoadError, RemoteError } from '@runyard/host-protocol';
import type { SpawnedChild } from './child-process.ts';
import { inTime } from './in-time.ts';
import { loadError } from './remote-errors.ts';

export interface LoadingLimits {
  timeoutMs: number;
  /** Aborts loading: the child is killed. */
  signal: AbortSignal | undefined;
  /** The last lines of the child, for the author of a project that ends it. */
  lastLines: string[];
}

/** Waits for the child to load its project, while it lives and until the time limit. @throws GraphLoadError */
export async function loadInTime(
  loading: Promise<void>,
  child: SpawnedChild,
  { timeoutMs, signal, lastLines }: LoadingLimits,
): Promise<void> {
  const giveUp = () => child.process.kill('SIGKILL');
  signal?.addEventListener('abort', giveUp, { once: true });
  if (signal?.aborted) giveUp();
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new GraphLoadError(`The project did not load within ${timeoutMs} ms.`)), timeoutMs);
  });
  const died = child.exited.then((reason) => {
    throw new GraphLoadError([`The process that loads the project ${reason}.`, ...lastLines].join('\n'));
  });
  // A process that ends closes its connection first, and why it ended says more.
  const loaded = loading.catch((error: unknown) => {
    if (error instanceof RemoteError && error.kind === 'gone') return died;
    throw error;
  });
  try {
    await Promise.race([loaded, died, tooLate]);
  } finally {
    signal?.removeEventListener('abort', giveUp);
    clearTimeout(timer);
  }
}

/**
 * Waits for the child to load what a field of `langgraph.json` names: a module that never ends loading is the author's
 * to hear of, and must not keep a service waiting.
 *
 * @param field as authors know it, like `auth.path`
 * @throws GraphLoadError
 */
export async function loadField<T>(loading: Promise<T>, field: string, timeoutMs: number): Promise<T> {
  const late = () => new GraphLoadError(`What "${field}" names did not load within ${timeoutMs} ms.`);
  try {
    return await inTime(loading, timeoutMs, late);
  } catch (error) {
    throw loadError(error);
  }
}
