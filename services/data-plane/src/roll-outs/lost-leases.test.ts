import type { StepResult } from '@runyard/reconciler';
import { Reconciler } from '@runyard/reconciler';
import { silentLogger } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { expect, it, vi } from 'vitest';
import { DeploymentRollout } from './deployment-rollout.ts';
import type { RolloutDependencies } from './rollout-dependencies.ts';

it('leases are renewed while the processes of a lost one are still ending', async () => {
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
  const dependencies = {
    store,
    builds: { keepOnly: async () => undefined },
    logger: silentLogger,
  } as unknown as RolloutDependencies;
  const workOn = (id: string) => new DeploymentRollout(id, dependencies);
  const reconciler = new Reconciler({
    store: dependencies.store,
    workOn,
    ownership,
    sweepMs: 60_000,
    logger: silentLogger,
  });
  reconciler.start();
  const times = (id: string) => asked.filter((each) => each === id).length;
  await waitFor(() => times('kept') > 0);

  // One query renews all leases.
  expect([times('lost'), times('kept')]).toEqual([calls, calls]);

  isLost = true;
  const before = { lost: times('lost'), kept: times('kept') };
  await waitFor(() => times('kept') > before.kept + 3, { what: 'more renewals of the lease that holds' });
  // The lease is not taken back while the processes end.
  expect(times('lost')).toBe(before.lost + 1);
  end(null);
  await reconciler.stop(0);
});

it('a deployment that changes while its lease is released is taken again afterwards, and stays', async () => {
  const leases = new Set<string>();
  let giveBack = () => {};
  let releases = 0;
  const ownership = {
    leaseMs: 60_000,
    async acquire(ids: readonly string[]) {
      for (const id of ids) leases.add(id);
      return new Set(ids);
    },
    async release(id: string) {
      releases += 1;
      await new Promise<void>((resolve) => {
        giveBack = resolve;
      });
      leases.delete(id);
    },
  };
  const step = vi.fn(async () => (step.mock.calls.length === 1 ? 'gone' : 'settled') as StepResult);
  const work = { step, wake: async () => undefined, stop: async () => undefined };
  const store = { allIds: async () => [] };
  const workOn = () => work;
  const reconciler = new Reconciler({ store, workOn, ownership, sweepMs: 60_000, logger: silentLogger });
  reconciler.wake('built');
  await waitFor(() => releases === 1);
  reconciler.wake('built');
  await new Promise(setImmediate);
  giveBack();
  await waitFor(() => step.mock.calls.length === 2);
  expect([...leases]).toEqual(['built']);

  const stopped = reconciler.stop(0);
  await waitFor(() => releases === 2);
  giveBack();
  await stopped;
});
