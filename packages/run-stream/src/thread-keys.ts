/**
 * A thread's keys share a hash tag, so that they are in one slot of a cluster:
 * - `{prefix:thread}:events`: the stream; one field per entry, the entry's text.
 * - `{prefix:thread}:head`: `epoch` (newest seen), `last` (id), `floor` (entries up to it may be deleted), `run` (the
 * last one that appended), `until` (ms, when the last ended run's entries expire), and per stored run `start:<run>`
 * (`1` resumable, `0` not, `e` ended; then the id before its first), `told:<run>` once its end was appended, and, once
 * another run has appended, `stop:<run>` (its last id). It outlives the events, for the fence.
 * `position` is `<run> <position>`, as the last append with one has said.
 * - `{prefix:thread}:sizes`: list of `<id> <bytes up to it>`, one for about each megabyte of the stream, oldest first;
 * `bytes` of the head counts everything that was ever appended.
 * - `{prefix:thread}:starts`: sorted set of the stored runs, by the id before their first entry; `open` of the head counts
 * those that have not ended, and `seen` is what both were made from.
 * - `{prefix:thread}:ends`: list of `<due ms> <last id> <run>` of ended runs, oldest first; later appends remove
 * entries.
 * - `{prefix:thread}:told`: sorted set of the runs whose end was appended, by time (ms), for as long as epochs are
 * remembered: an end is not appended again even when the entries are deleted. The previous release reads `told:<run>`
 * of the head instead.
 */
export function threadKeys(
  prefix: string,
  threadId: string,
): { events: string; head: string; ends: string; sizes: string; publishedEnds: string; starts: string; live: string } {
  const tag = `{${prefix}:${threadId}}`;
  return {
    events: `${tag}:events`,
    head: `${tag}:head`,
    ends: `${tag}:ends`,
    sizes: `${tag}:sizes`,
    publishedEnds: `${tag}:told`,
    starts: `${tag}:starts`,
    live: `${tag}:live`,
  };
}
