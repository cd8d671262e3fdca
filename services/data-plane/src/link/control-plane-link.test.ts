import { silentLogger } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { expect, it } from 'vitest';
import { type ControlPlaneClient, ControlPlaneRefusedError } from './control-plane-client.ts';
import { ControlPlaneLink } from './control-plane-link.ts';

it('instances of the control plane that disagree about the desired state are asked more and more slowly', async () => {
  const asked: { since: string | undefined; at: number }[] = [];
  const client = {
    takeLease: async () => ({ epoch: 1, lease_seconds: 60 }),
    desiredState: async ({ since }: { since: string | undefined }) => {
      asked.push({ since, at: performance.now() });
      return { resource_version: since === 'old' ? 'new' : 'old', deployments: [] };
    },
  } as unknown as ControlPlaneClient;
  const link = new ControlPlaneLink({
    client,
    ...{ instanceId: 'here', version: '1.2.3', publicUrl: null, podRules: null, logger: silentLogger },
    onDesired: async () => undefined,
    onLost: () => undefined,
  });
  await link.begin();
  expect(asked.splice(0)).toMatchObject([{ since: undefined }]);
  link.start();
  await waitFor(() => asked.length === 5, { what: 'five answers' });
  // The link is in its longest pause so far.
  const stopped = link.beginStop();
  expect(asked.map(({ since }) => since)).toEqual(['old', 'new', 'old', 'new', 'old']);
  const pauses = asked.slice(1).map(({ at }, index) => at - asked[index]!.at);
  // Timers may fire a fraction of a millisecond early.
  for (const pauseMs of pauses) expect(pauseMs).toBeGreaterThan(98);
  expect(pauses.at(-1)).toBeGreaterThan(198);
  await stopped;
  expect(asked).toHaveLength(5);
});

it('a request that nobody waits for any more is not repeated', async () => {
  const client = { takeLease: async () => ({ epoch: 1, lease_seconds: 60 }) } as unknown as ControlPlaneClient;
  const link = new ControlPlaneLink({
    client,
    ...{ instanceId: 'here', version: '1.2.3', publicUrl: null, podRules: null, logger: silentLogger },
    onDesired: async () => undefined,
  });
  const interrupted = new AbortController();
  const sent = link.sendUntilAccepted(async () => {
    interrupted.abort(new Error('superseded'));
    throw new ControlPlaneRefusedError(503, 'away');
  }, interrupted.signal);
  await expect(sent).rejects.toThrow('superseded');
});
