/**
 * Does the work with a signal that aborts when `outer` does, and in any case after `timeoutMs`.
 *
 * The obvious `AbortSignal.any([outer, AbortSignal.timeout(timeoutMs)])` may never abort: nothing but the timer refers to the
 * second signal, the timer does so weakly, and once the garbage collector has taken it the deadline is gone.
 */
export async function withDeadline<T>(
  outer: AbortSignal,
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const follow = () => controller.abort(outer.reason);
  const timer = setTimeout(() => controller.abort(new Error(`not done within ${timeoutMs} ms`)), timeoutMs);
  outer.addEventListener('abort', follow, { once: true });
  if (outer.aborted) follow();
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener('abort', follow);
  }
}
