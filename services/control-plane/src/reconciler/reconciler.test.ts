import { silentLogger } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { expect, it } from 'vitest';
import { DeploymentRollout } from './deployment-rollout.ts';
import { Reconciler } from './reconciler.ts';
import type { RolloutParts } from './rollout-parts.ts';

it('leases are renewed while what was lost with another one is still ending', async () => {
  const asked: string[] = [];
  let calls = 0;
  let isLost = false;
  const ownership = {
    leaseMs: 40,
    async acquire(ids: readonly string[]) {
      asked.push(...ids);
      calls += 1;
      return new Set(ids.filter((id) => !(isLost && id === 'lost')));
    },
    release: async () => undefined,
  };
  let end = (_deployment: null) => {};
  const ended = new Promise<null>((resolve) => {
    end = resolve;
  });
  const store = {
    allIds: async () => ['lost', 'kept'],
    find: (id: string) =>
      id === 'lost' ? ended : Promise.resolve({ id, activeRevisionId: null, deleteRequestedAt: null }),
    openRevisions: async () => [],
    revisionsInUse: async () => [],
  };
  const parts = { store, builds: { keepOnly: async () => undefined }, logger: silentLogger } as unknown as RolloutParts;
  const workOn = (id: string) => new DeploymentRollout(id, parts);
  const reconciler = new Reconciler({ store: parts.store, workOn, ownership, sweepMs: 60_000, logger: silentLogger });
  reconciler.start();
  const times = (id: string) => asked.filter((each) => each === id).length;
  await waitFor(() => times('kept') > 0);

  // One question for all of them.
  expect([times('lost'), times('kept')]).toEqual([calls, calls]);

  isLost = true;
  const before = { lost: times('lost'), kept: times('kept') };
  await waitFor(() => times('kept') > before.kept + 3, { what: 'more renewals of the lease that holds' });
  // It is not taken back while its processes end.
  expect(times('lost')).toBe(before.lost + 1);
  end(null);
  await reconciler.stop(0);
});
