import { setTimeout as pause } from 'node:timers/promises';
import { FINAL_REVISION_STATUSES, type LogEntry, type Revision, type RevisionStatus } from '@runyard/contracts';
import type { ControlPlane } from '../connection/control-plane.ts';
import { isUnreachable } from '../connection/refusals.ts';
import { ignoreMissingLogs, LogTail } from '../logs/log-tail.ts';
import { formatElapsed, type Progress } from '../output/progress-event.ts';

const HEARTBEAT_MS = 10_000;
/** Number of lines of the server's log that are shown when it does not start. */
const LAST_LINES = 30;

const BUILT: ReadonlySet<RevisionStatus> = new Set([
  'BUILDING',
  'AWAITING_DEPLOY',
  'DEPLOYING',
  'DEPLOYED',
  'BUILD_FAILED',
  'DEPLOY_FAILED',
  'INTERRUPTED',
]);

export interface WaitOptions {
  controlPlane: ControlPlane;
  progress: Progress;
  deploymentId: string;
  revisionId: string;
  /** True when the platform builds the revision, and has a build log. */
  isRemoteBuild: boolean;
  /** True when to show the server's log while it starts. */
  verbose: boolean;
  timeoutMs: number;
  pollMs: number;
  interrupted: AbortSignal;
}

/** Follows a revision to its end and reports its statuses and build log; null when it takes longer than `timeoutMs`. */
export async function followRevision(options: WaitOptions): Promise<Revision | null> {
  const { controlPlane, progress, deploymentId, revisionId, interrupted } = options;
  const began = Date.now();
  const seconds = () => Math.round((Date.now() - began) / 100) / 10;
  const build = new LogTail(controlPlane, { type: 'build', deploymentId, revisionId });
  const server = new LogTail(controlPlane, { type: 'deploy', deploymentId, revisionId });
  let shown: RevisionStatus | null = null;
  let reportedAt = began;
  for (;;) {
    const revision = await ignoreUnreachable(controlPlane.getRevision(deploymentId, revisionId));
    const status: RevisionStatus = revision?.status ?? shown ?? 'UNKNOWN';
    const isNew = status !== shown;
    if (isNew || Date.now() - reportedAt >= HEARTBEAT_MS) {
      const event = isNew ? 'status_change' : 'heartbeat';
      const message = `${status} (${formatElapsed(seconds())})`;
      progress.report({ event, status, elapsed_seconds: seconds(), message });
      reportedAt = Date.now();
    }
    // The log is read once more after the build, for its last lines.
    const isBuilding = shown === null || shown === 'BUILDING' || !BUILT.has(shown);
    if (options.isRemoteBuild && isBuilding && BUILT.has(status))
      reportLines(progress, await ignoreMissingLogs(build.next()));
    if (options.verbose && /^DEPLOY/.test(status)) reportLines(progress, await ignoreMissingLogs(server.next()));
    else if (status === 'DEPLOY_FAILED') reportLines(progress, await ignoreMissingLogs(server.last(LAST_LINES)));
    if (revision && FINAL_REVISION_STATUSES.includes(status)) return revision;
    shown = status;
    if (Date.now() - began >= options.timeoutMs) return null;
    await pause(options.pollMs, undefined, { signal: interrupted }).catch(() => interrupted.throwIfAborted());
  }
}

/** Returns null while the platform is unavailable: the caller asks again until its own timeout. */
async function ignoreUnreachable(asking: Promise<Revision>): Promise<Revision | null> {
  try {
    return await asking;
  } catch (error) {
    if (isUnreachable(error)) return null;
    throw error;
  }
}

function reportLines(progress: Progress, entries: LogEntry[]): void {
  for (const { message, level } of entries) progress.report({ event: 'log', message, level });
}
