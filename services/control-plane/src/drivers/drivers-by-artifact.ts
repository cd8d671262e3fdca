import type { Artifact, Driver, RevisionSpec, RevisionStartOptions, RunningRevision } from '../revisions/driver.ts';

/** Chooses the driver by the kind of the revision's artifact. */
export class DriversByArtifact implements Driver {
  readonly #drivers: Record<Artifact['kind'], Driver>;

  constructor(drivers: Record<Artifact['kind'], Driver>) {
    this.#drivers = drivers;
  }

  start(spec: RevisionSpec, options: RevisionStartOptions): Promise<RunningRevision> {
    return this.#drivers[spec.artifact.kind].start(spec, options);
  }

  outlivesProcess(kind: Artifact['kind']): boolean {
    return this.#drivers[kind].outlivesProcess?.(kind) ?? false;
  }
}
