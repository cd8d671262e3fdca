/**
 * A thread's keys share a hash tag, so they are in one slot of a cluster:
 * - `{prefix:thread}:events`: the stream; one field per entry, the entry's text.
 * - `{prefix:thread}:head`: `epoch` (newest seen), `last` (id), `floor` (entries up to here may be gone), `run` (that appended
 *   last), `until` (ms, when the last ended run's entries may go), and per kept run `start:<run>` (`1` resumable, `0` not,
 *   `e` ended; then the id before its first), `told:<run>` once its end was appended, and, once another run has appended, `stop:<run>` (its last id). It outlives the events, for the fence.
 * - `{prefix:thread}:sizes`: list of `<id> <bytes up to it>`, one for about each megabyte of the stream, oldest first; `bytes` of
 *   the head are those of all that was ever appended.
 * - `{prefix:thread}:ends`: list of `<due ms> <last id> <run>` of ended runs, oldest first; taken off by later appends.
 * - `{prefix:thread}:told`: sorted set of the runs whose end was appended, by when (ms), for as long as epochs are remembered: also
 *   when its entries are gone an end is not told again. `told:<run>` of the head is where the release before this one looks.
 */
export function threadKeys(
  prefix: string,
  threadId: string,
): { events: string; head: string; ends: string; sizes: string; told: string; live: string } {
  const tag = `{${prefix}:${threadId}}`;
  return {
    events: `${tag}:events`,
    head: `${tag}:head`,
    ends: `${tag}:ends`,
    sizes: `${tag}:sizes`,
    told: `${tag}:told`,
    live: `${tag}:live`,
  };
}
