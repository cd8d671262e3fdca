import { withDeadline } from '@runyard/deadline';
import { RevisionStartError } from '@runyard/deployments';
import type { RevisionLog } from '@runyard/revision-logs';
import { withLastLines } from '@runyard/revision-logs';
import type { RevisionSpec, RevisionStartOptions, RunningRevision } from '../driver.ts';
import type { Launcher, SupervisionOptions } from './launcher.ts';
import { SupervisedRevision } from './supervised-revision.ts';

/**
 * Starts all replicas of a revision and supervises them. `prepare` is a part of the start and shares its time limit.
 *
 * @throws RevisionStartError with the last lines of the revision's log
 */
export async function startRevision(
  spec: RevisionSpec,
  { signal: outer, timeoutMs, onUpstreams }: RevisionStartOptions,
  options: SupervisionOptions,
  prepare: (log: RevisionLog, signal: AbortSignal) => Promise<Launcher>,
): Promise<RunningRevision> {
  const { deploymentId, revisionId } = spec;
  const secrets = [...Object.values(spec.secrets), new URL(spec.databaseUri).password, new URL(spec.redisUri).password];
  const log = await options.openLog({ deploymentId, revisionId, kind: 'deploy' }, { secrets });
  let revision: SupervisedRevision | undefined;
  try {
    return await withDeadline(outer, timeoutMs, async (signal) => {
      const launcher = await prepare(log, signal);
      const before = (await options.countsBefore?.(deploymentId)) ?? {};
      revision = new SupervisedRevision(spec, before, { launcher, options, log, onUpstreams });
      options.running.add(revision);
      await revision.start(signal);
      return revision;
    });
  } catch (error) {
    await (revision ? revision.stop(0) : log.close());
    const message = describeStartError(error, timeoutMs, outer);
    throw message === undefined ? error : new RevisionStartError(withLastLines(message, log), { cause: error });
  }
}

/** Returns undefined for an error that says nothing about the revision. */
function describeStartError(error: unknown, timeoutMs: number, outer: AbortSignal): string | undefined {
  if (error instanceof RevisionStartError) return error.message;
  // The time was over before a process could be asked how it is.
  const isLate = !outer.aborted && error instanceof DOMException && error.name === 'TimeoutError';
  return isLate ? `The revision was not healthy in time: it was not started within ${timeoutMs / 1000} s` : undefined;
}
