import { relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Revision, ServerInfo } from '@runyard/contracts';
import { InfrastructureError, type Supervisor } from '@runyard/local-infra';
import { followRevision, RevisionFailedError } from '../deployment/follow-revision.ts';
import type { PlatformClient } from '../platform-client.ts';
import type { Progress } from '../progress.ts';
import { installProjectDependencies } from '../project/install-dependencies.ts';
import { type ProjectFolder, readProject } from '../project/read-project.ts';
import { loadErrorOf } from './load-error.ts';
import { ProjectWatch } from './project-watch.ts';

const POLL_MS = 20;
/** Starts in a row that a further edit ends. */
const INTERRUPTIONS_MAX = 3;
/** Milliseconds that the gateway may take to get a route. */
const SERVED_MS = 5_000;

export interface ReloadOptions {
  client: PlatformClient;
  deploymentId: string;
  watch: ProjectWatch;
  supervisor: Supervisor;
  progress: Progress;
  stopping: AbortSignal;
}

/** Watches a project for edits, from now on. */
export async function watchProject(
  project: ProjectFolder,
  { dataDir, progress }: { dataDir: string; progress: Progress },
): Promise<ProjectWatch> {
  return ProjectWatch.open({
    sources: project.sources,
    dataDir,
    onError: (error) => progress.done(`Not all edits are noticed: ${(error as Error).message}`),
  });
}

/**
 * Makes a revision of each edit of the project, until it is stopped. A further edit ends one that is still starting;
 * one that does not start leaves the last good one serving, with all its runs.
 */
export async function reloadOnEdits(folder: string, options: ReloadOptions): Promise<void> {
  const { watch, progress, stopping } = options;
  let files: string[] = [];
  let interruptions = 0;
  while (!stopping.aborted) {
    files = [...new Set([...files, ...(await watch.nextEdit(stopping))])];
    const edited = nameFiles(files, folder);
    const startedAt = performance.now();
    progress.step(`Reloading after an edit of ${edited}`);
    const start = (signal: AbortSignal) => reload(folder, { ...options, signal });
    try {
      // A project may write its own code each time that it is started: that is no reason never to be.
      await (interruptions < INTERRUPTIONS_MAX ? watch.untilNextEdit(stopping, start) : start(stopping));
      progress.done(`Reloaded in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    } catch (error) {
      // The next edit has ended it, and comes with the files of this one.
      interruptions += 1;
      if ((error as Error).name === 'AbortError') continue;
      const crons = error instanceof RevisionFailedError ? ', without its crons' : '';
      progress.done(`Not reloaded, the version before goes on${crons}:\n${messageOf(error as Error)}`);
    }
    files = [];
    interruptions = 0;
  }
}

/**
 * Deploys the project as it is now. What speaks against starting it does not keep it from being tried: if it does not
 * load, its revision fails, by which the platform knows and lets its crons pause.
 */
async function reload(folder: string, options: ReloadOptions & { signal: AbortSignal }): Promise<void> {
  const { client, deploymentId, progress, signal } = options;
  const fault = await prepare(folder, options).then(
    () => undefined,
    (error: Error) => error,
  );
  signal.throwIfAborted();
  const revisions = `/v2/deployments/${deploymentId}/revisions`;
  const { id } = await client.call<Revision>('POST', revisions, {});
  if (fault) progress.step(messageOf(fault));
  try {
    await followRevision({ client, deploymentId, revisionId: id, signal });
  } catch (error) {
    // It may have come to serve at this very moment: then it is replaced like any other.
    if (signal.aborted) await client.call('POST', `${revisions}/${id}/interrupt`).catch(() => undefined);
    throw error;
  }
  await untilServed(id, options);
}

/** Brings what the project needs. @throws InfrastructureError with what is wrong with it */
async function prepare(folder: string, options: ReloadOptions): Promise<void> {
  const project = await readProject(folder);
  await options.watch.follow(project.sources);
  await installProjectDependencies(project, options);
}

/** Waits for the gateway, which gets the route to a new revision a moment after it is deployed. */
async function untilServed(
  revisionId: string,
  { client, deploymentId, signal }: ReloadOptions & { signal: AbortSignal },
): Promise<void> {
  // A project may hide the page that says what serves.
  const deadline = performance.now() + SERVED_MS;
  while (performance.now() < deadline) {
    const info = await client.call<ServerInfo>('GET', `/deployments/${deploymentId}/info`).catch(() => null);
    if (info?.host?.revision_id === revisionId) return;
    await pause(POLL_MS, undefined, { signal });
  }
}

function messageOf(error: Error): string {
  if (error instanceof RevisionFailedError) return loadErrorOf(error.reason);
  // Everything but a sentence for the person at the keyboard is our fault, and comes with its stack.
  return (error instanceof InfrastructureError ? error.message : error.stack) ?? String(error);
}

/** Two names are enough to tell which edit is meant. */
function nameFiles(files: string[], folder: string): string {
  const [first, second, ...others] = files.map((file) => relative(folder, file));
  if (second === undefined) return first!;
  return others.length === 0 ? `${first} and ${second}` : `${first} and ${others.length + 1} more files`;
}
