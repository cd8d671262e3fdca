import { type FollowedEntry, type FollowRunOptions, followRun } from '../../streams/follow-run.ts';
import { type CallEnd, type CallEndSources, readCallEnd } from './call-end.ts';

export type CallSources = Pick<FollowRunOptions, 'streams' | 'watch' | 'ends'> & CallEndSources;

interface FollowCallOptions {
  /** Ends the following. */
  signal: AbortSignal;
  /** Aborts when nothing holds the state any more. */
  closed: AbortSignal;
  onEntry?: ((entry: FollowedEntry) => Promise<void>) | undefined;
}

/**
 * Follows the run of a call to its end; undefined when the signal came first. Its state has room until `closed`, which
 * is longer where patience is a part of the signal. `lastId` is the id of its last entry in the thread's stream, as far
 * as it has one.
 */
export async function followCall(
  sources: CallSources,
  { threadId, runId }: { threadId: string; runId: string },
  { signal, closed, onEntry }: FollowCallOptions,
): Promise<{ end: CallEnd; lastId: string | undefined } | undefined> {
  let lastId: string | undefined;
  const { streams, watch, ends } = sources;
  for await (const entry of followRun({ streams, watch, ends, threadId, runId, signal })) {
    lastId = entry.id ?? lastId;
    if (onEntry) await onEntry(entry);
  }
  if (signal.aborted) return undefined;
  const end = await readCallEnd(sources, { threadId, runId }, closed);
  return end && { end, lastId };
}
