import type { Artifact, Driver, RevisionSpec, RunningRevision, StartOptions } from './driver.ts';

/** Runs each revision with the driver for what it is. */
export class DriversByArtifact implements Driver {
  readonly #drivers: Record<Artifact['kind'], Driver>;

  constructor(drivers: Record<Artifact['kind'], Driver>) {
    this.#drivers = drivers;
  }

  start(spec: RevisionSpec, options: StartOptions): Promise<RunningRevision> {
    return this.#drivers[spec.artifact.kind].start(spec, options);
  }

  outlivesUs(kind: Artifact['kind']): boolean {
    return this.#drivers[kind].outlivesUs?.(kind) ?? false;
  }
}
