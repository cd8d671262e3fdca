/**
 * Does the work with a signal that aborts when `outer` does, and in any case after `timeoutMs`, with a `TimeoutError`.
 *
 * The obvious `AbortSignal.any([outer, AbortSignal.timeout(timeoutMs)])` may never abort: nothing but the timer refers to the
 * second signal, the timer does so weakly, and once the garbage collector has taken it the deadline is gone.
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
  return withEnd(outer, watch, work);
}

/**
 * Does the work with a signal that aborts when `outer` does, or when what is watched meanwhile says that it is to end.
 *
 * @param watch returns what ends the watching
 */
export async function withEnd<T>(
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
