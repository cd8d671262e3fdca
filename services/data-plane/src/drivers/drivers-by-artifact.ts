import type { Artifact } from '@runyard/deployments';
import { RevisionStartError } from '@runyard/deployments';
import type { Driver, RevisionSpec, RevisionStartOptions, RunningRevision } from './driver.ts';
import type { DriverOptions, OpenDriver } from './driver-row.ts';
import type { AnyDriverRow, DriverConfig } from './drivers.ts';

interface Opened {
  row: AnyDriverRow;
  driver: OpenDriver;
}

/** Runs each revision with the driver that accepts its kind of artifact. */
export class DriversByArtifact implements Driver {
  readonly #opened: readonly Opened[];

  private constructor(opened: readonly Opened[]) {
    this.#opened = opened;
  }

  static async open(
    rows: readonly AnyDriverRow[],
    config: DriverConfig,
    options: DriverOptions,
  ): Promise<DriversByArtifact> {
    const opened: Opened[] = [];
    for (const row of rows) opened.push({ row, driver: await row.open(config, options) });
    return new DriversByArtifact(opened);
  }

  async start(spec: RevisionSpec, options: RevisionStartOptions): Promise<RunningRevision> {
    const { kind } = spec.artifact;
    const chosen = this.#opened.find(({ row }) => row.accepts === kind);
    if (!chosen) throw new RevisionStartError(`No driver here runs ${kind}s: DRIVER names none.`);
    if (spec.namespace !== undefined && !chosen.row.hasPods)
      throw new RevisionStartError(
        `It is to run in a namespace of a cluster, and the driver here is ${chosen.row.name} (DRIVER).`,
      );
    return chosen.driver.start(spec, options);
  }

  outlivesProcess(kind: Artifact['kind']): boolean {
    return this.#opened.some(({ row }) => row.accepts === kind && row.outlivesProcess);
  }

  /**
   * Removes what is left of a deleted deployment. Drivers of projects look always, and so do those whose revisions outlive
   * this process: they may have run it in an earlier configuration.
   *
   * @param options.hasRunImages false when it has never run as an image here
   * @param options.namespace of the cluster it ran in; default: the usual one
   */
  async removeLeftovers(
    deploymentId: string,
    { hasRunImages, namespace }: { hasRunImages: boolean; namespace?: string | undefined },
  ): Promise<void> {
    for (const { row, driver } of this.#opened)
      if (row.outlivesProcess || row.accepts === 'project' || hasRunImages)
        await driver.removeLeftovers?.(deploymentId, namespace);
  }

  async close(): Promise<void> {
    for (const { driver } of this.#opened) await driver.close?.();
  }
}
