import type { Counts, ReplicaRole } from '@runyard/deployments';
import type { Logger } from '@runyard/service-kit';
import type { SharedReports } from '../link/shared-reports.ts';
import type { ScaleStore } from '../monitoring/scale-store.ts';
import type { StateFile } from './state-file.ts';

/** Stores the process counts with the desired state, and reports them where data planes share them. */
export class LocalScaleStore implements ScaleStore {
  readonly #stateFile: StateFile;
  readonly #shared: Pick<SharedReports, 'processCounts'> | undefined;
  readonly #logger: Logger;

  constructor(options: {
    stateFile: StateFile;
    shared: Pick<SharedReports, 'processCounts'> | undefined;
    logger: Logger;
  }) {
    this.#stateFile = options.stateFile;
    this.#shared = options.shared;
    this.#logger = options.logger;
  }

  store(deploymentId: string, role: ReplicaRole, count: number): void {
    const own = this.#stateFile.localStateOf(deploymentId);
    own.counts = { ...own.counts, [role]: count };
    const stored = [this.#stateFile.save(), this.#shared?.processCounts(deploymentId, { [role]: count })];
    Promise.all(stored).catch((error: unknown) => {
      this.#logger.warn('process count not stored', { deploymentId, role, count, error });
    });
  }

  async find(deploymentId: string): Promise<Counts> {
    return this.#stateFile.localStateOf(deploymentId).counts ?? {};
  }
}
