import type { Logger } from '@runyard/service-kit';
import type { Counts, Role } from '../drivers/scale-bounds.ts';
import type { ScaleMemory } from '../monitoring/scale-memory.ts';
import type { KeptState } from './kept-state.ts';

/** Stores the process counts with the desired state. */
export class KeptScales implements ScaleMemory {
  readonly #kept: KeptState;
  readonly #logger: Logger;

  constructor(options: { kept: KeptState; logger: Logger }) {
    this.#kept = options.kept;
    this.#logger = options.logger;
  }

  keep(deploymentId: string, role: Role, count: number): void {
    const own = this.#kept.own(deploymentId);
    own.counts = { ...own.counts, [role]: count };
    this.#kept.save().catch((error: unknown) => {
      this.#logger.warn('process count not stored', { deploymentId, role, count, error });
    });
  }

  async of(deploymentId: string): Promise<Counts> {
    return this.#kept.own(deploymentId).counts ?? {};
  }
}
