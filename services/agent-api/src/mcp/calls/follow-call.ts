import { type FollowedEntry, type FollowRunOptions, followRun } from '../../streams/follow-run.ts';
import { type CallEnd, type CallEndSources, readCallEnd } from './call-end.ts';

export type CallSources = Pick<FollowRunOptions, 'streams' | 'watch' | 'ends'> & CallEndSources;

/**
 * Follows the run of a call to its end; undefined when the signal came first. `lastId` is the id of its last entry in
 * the thread's stream, as far as it has one.
 */
export async function followCall(
  sources: CallSources,
  { threadId, runId }: { threadId: string; runId: string },
  { signal, onEntry }: { signal: AbortSignal; onEntry?: ((entry: FollowedEntry) => Promise<void>) | undefined },
): Promise<{ end: CallEnd; lastId: string | undefined } | undefined> {
  let lastId: string | undefined;
  const { streams, watch, ends } = sources;
  for await (const entry of followRun({ streams, watch, ends, threadId, runId, signal })) {
    lastId = entry.id ?? lastId;
    if (onEntry) await onEntry(entry);
  }
  if (signal.aborted) return undefined;
  const end = await readCallEnd(sources, { threadId, runId }, signal);
  return end && { end, lastId };
}
