import { waitFor } from '@runyard/test-kit';
import { inject } from 'vitest';
import type { Caller } from './caller.ts';

/** Sends keys that are good, wrong, forged and revoked to every service, and to paths that do not exist. */
export async function placeKeys(caller: Caller): Promise<void> {
  const { canaries } = caller;
  const { deploymentUrl } = inject('platform');
  const made = await caller.make('POST', '/api/v1/orgs/current/service-keys', { description: 'canary' });
  const key = canaries.add('a new key', made.key);
  const services = ['/v2/deployments', '/api/v1/workspaces', '/v2/auth/providers', `${deploymentUrl}/info`];
  for (const place of [...services, '/no/such/path', `${deploymentUrl}/no/such/path`]) {
    await Promise.all([
      caller.ask('GET', place, { key }),
      caller.ask('GET', place, { key: null, headers: { authorization: `Bearer ${key}` } }),
      caller.ask('GET', place, { headers: caller.secretHeaders(place) }),
      caller.ask('GET', place, { key: null, headers: caller.secretHeaders(`${place}, without a key`) }),
      caller.ask('GET', place, { key: canaries.make(`${place}: a wrong key`) }),
      caller.ask('GET', place, { key: `lsv2_sk_${canaries.make(`${place}: a forged key`)}` }),
      caller.ask('GET', `${place}?api_key=${canaries.make(`${place}: query`)}`, { key: null }),
    ]);
  }
  await caller.make('DELETE', `/api/v1/orgs/current/service-keys/${made.id}`);
  // The requests of a revoked key that are in flight are cut.
  const isRefused = async () => (await caller.ask('GET', '/v2/deployments', { key })).status === 401;
  await waitFor(isRefused, { what: 'a refused key' });
}

/** Sends bodies with secrets that are refused: because of their form, and because they are no JSON. */
export async function placeFaultyBodies(caller: Caller): Promise<void> {
  const { deploymentUrl } = inject('platform');
  const targets = [
    '/v2/deployments',
    '/v2/auth/providers',
    '/v2/auth/tokens/import',
    '/v1/integrations/github/install',
    '/api/v1/orgs/current/service-keys',
    `${deploymentUrl}/threads`,
    `${deploymentUrl}/runs/wait`,
  ];
  for (const target of targets) {
    const place = (what: string) => caller.canaries.make(`${target}: ${what}`);
    const secret = place('fields of a wrong type');
    const wrong = { name: [secret], client_secret: [secret], token: { secret }, thread_id: secret, secrets: secret };
    const bodies = [
      { ...wrong, access_token: [secret], assistant_id: [secret], description: [secret] },
      { secrets: [{ name: 'A', value: [place('a value')] }] },
      { unknown: place('an unknown field'), description: 'x' },
      `{"token": ${place('no JSON')}}`,
      place('no JSON at all'),
    ];
    await Promise.all(bodies.map((body) => caller.ask('POST', target, { body })));
  }
}
