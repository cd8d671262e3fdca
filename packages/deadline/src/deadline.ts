/**
 * Runs the work with a signal that aborts when `outer` does, and at the latest after `timeoutMs`, with a
 * `TimeoutError`.
 *
 * The obvious `AbortSignal.any([outer, AbortSignal.timeout(timeoutMs)])` may never abort: only the timer refers to the
 * second signal, and weakly, so that the garbage collector may remove it, and the deadline with it.
 */
export function withDeadline<T>(
  outer: AbortSignal | undefined,
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const watch = (end: (reason: Error) => void) => {
    const timer = setTimeout(() => end(new DOMException(`not done within ${timeoutMs} ms`, 'TimeoutError')), timeoutMs);
    return () => clearTimeout(timer);
  };
  return withWatcher(outer, watch, work);
}

/**
 * Runs the work with a signal that aborts when `outer` does, or when the watcher ends it.
 *
 * @param watch starts watching, and returns a function that stops it
 */
export async function withWatcher<T>(
  outer: AbortSignal | undefined,
  watch: (end: (reason: Error) => void) => () => void,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const follow = () => controller.abort(outer?.reason);
  outer?.addEventListener('abort', follow, { once: true });
  if (outer?.aborted) follow();
  const unwatch = watch((reason) => controller.abort(reason));
  try {
    return await work(controller.signal);
  } finally {
    unwatch();
    outer?.removeEventListener('abort', follow);
  }
}
