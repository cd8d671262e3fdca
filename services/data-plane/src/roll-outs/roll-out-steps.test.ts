import type { RevisionStatus } from '@runyard/contracts';
import type { RolloutRevision } from '@runyard/deployments';
import { expect, it } from 'vitest';
import { skipSuperseded } from './roll-out-steps.ts';
import type { RolloutStore } from './rollout-store.ts';

const revision = (number: number, status: RevisionStatus) =>
  ({ id: `revision ${number}`, number, status }) as unknown as RolloutRevision;

/** Makes the store of a data plane, while the platform changes statuses too. */
function storeWith(platform: Record<string, RevisionStatus>): RolloutStore {
  return {
    moveRevision: async ({ id }: RolloutRevision, to: RevisionStatus) => {
      const isAccepted = to === 'SKIPPED' && platform[id] === 'AWAITING_BUILD';
      if (isAccepted) platform[id] = to;
      return isAccepted;
    },
    findRevision: async (id: string) => ({ id, status: platform[id] }),
  } as unknown as RolloutStore;
}

it('a revision that the platform began to build while it was to be skipped goes before the newest', async () => {
  const open = [4, 5, 6, 7].map((number) => revision(number, 'AWAITING_BUILD'));
  const store = storeWith({
    'revision 4': 'AWAITING_BUILD',
    'revision 5': 'BUILDING',
    'revision 6': 'INTERRUPTED',
    'revision 7': 'AWAITING_BUILD',
  });
  expect(await skipSuperseded(store, open)).toEqual([
    expect.objectContaining({ id: 'revision 5', status: 'BUILDING' }),
    open[3],
  ]);
});
