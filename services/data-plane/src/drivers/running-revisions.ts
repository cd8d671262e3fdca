import type { RunningRevision } from './driver.ts';

/** The revisions that run under this process, including draining ones. Drivers maintain it, monitoring reads it. */
export class RunningRevisions {
  readonly #revisions = new Set<RunningRevision>();

  add(revision: RunningRevision): void {
    this.#revisions.add(revision);
  }

  delete(revision: RunningRevision): void {
    this.#revisions.delete(revision);
  }

  byDeployment(): Map<string, RunningRevision[]> {
    const grouped = new Map<string, RunningRevision[]>();
    for (const revision of this.#revisions) {
      const { deploymentId } = revision;
      grouped.set(deploymentId, [...(grouped.get(deploymentId) ?? []), revision]);
    }
    return grouped;
  }
}
