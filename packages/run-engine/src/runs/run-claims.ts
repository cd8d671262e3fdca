import type { DataCipher } from '@runyard/encryption';
import type pg from 'pg';
import type { EngineWrites } from '../engine-writes.ts';
import type { RunEventTemplate } from '../event-rows.ts';
import { type Claim, type ClaimOptions, claimRuns } from './claim-runs.ts';
import type { MissingKeys } from './missing-keys.ts';
import type { ClaimedRun, DelayedRun } from './types.ts';

/** Statements of one claim: each leaves out the keys that those before it have missed. */
const ROUNDS_MAX = 20;

export interface RunClaimsOptions {
  pool: pg.Pool;
  cipher: DataCipher;
  startedTemplate: RunEventTemplate;
  writes: Pick<EngineWrites, 'notifyListeners'>;
  missingKeys: MissingKeys;
}

/** Claims runs, and gives back those that cannot be decrypted here. */
export class RunClaims {
  readonly #options: RunClaimsOptions;

  constructor(options: RunClaimsOptions) {
    this.#options = options;
  }

  /** Claims up to `limit` runs. Those behind runs whose keys are missing are found by the same claim. */
  async claim(workerId: string, limit: number, { onDelayed, ...options }: ClaimOptions): Promise<ClaimedRun[]> {
    const claimed: ClaimedRun[] = [];
    const delayed: DelayedRun['run'][] = [];
    for (let round = 1; round <= ROUNDS_MAX; round += 1) {
      const left = limit - claimed.length - delayed.length;
      if (left <= 0) break;
      const found = await this.#claimOnce({ workerId, limit: left, ...options }, onDelayed);
      claimed.push(...found.claimed);
      delayed.push(...found.delayed);
      if (!found.isKeyMissing) break;
    }
    if (onDelayed) return claimed;
    return [...claimed, ...(await Promise.all(delayed)).filter((run) => run !== undefined)];
  }

  async #claimOnce(
    claim: Omit<Claim, 'withoutKeys'>,
    onDelayed: ClaimOptions['onDelayed'],
  ): Promise<{ claimed: ClaimedRun[]; delayed: DelayedRun['run'][]; isKeyMissing: boolean }> {
    const { pool, cipher, startedTemplate, writes, missingKeys } = this.#options;
    const leaving = { ...claim, withoutKeys: missingKeys.headers() };
    const { claimed, delayed, undecryptable } = await claimRuns(pool, leaving, startedTemplate, cipher);
    if (claimed.length + delayed.length + undecryptable.length > 0) writes.notifyListeners({ hasWebhooks: false });
    const later = delayed.map(({ fence, header, run }) =>
      run.catch(async (error: unknown) => {
        await missingKeys.giveBack(fence, header, error);
        await missingKeys.report();
        return undefined;
      }),
    );
    for (const [index, { fence }] of delayed.entries()) {
      onDelayed?.({ runId: fence.runId!, fence, run: later[index]! });
    }
    let isKeyMissing = false;
    for (const { fence, header, error } of undecryptable) {
      if (await missingKeys.giveBack(fence, header, error)) isKeyMissing = true;
    }
    await missingKeys.report();
    return { claimed, delayed: later, isKeyMissing };
  }
}
