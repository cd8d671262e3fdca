import { randomUUID } from 'node:crypto';
import { type TestServiceProcess, waitFor } from '@runyard/test-kit';
import { type FakeServer, readRequestBody, startFakeServer } from '@runyard/test-kit/fake-platform';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { countFormerTables, FormerControlPlane, NO_ROWS } from './support/former-control-plane.ts';
import { TestPlatform } from './support/platform.ts';

/** The moments of a question at which the broker is killed. */
const MOMENTS = ['before control-plane has it', 'before the answer', 'after the answer'] as const;

let rows: FormerControlPlane;
let platform: TestPlatform;
let line: FakeServer;
/** Counts the moments that went by, and kills the broker at this one. */
let [passed, killAt] = [0, 0];

beforeAll(async () => {
  rows = await FormerControlPlane.start();
  line = await startFakeServer(async (req, res) => {
    const isKilledAt = (moment: (typeof MOMENTS)[number]) => MOMENTS.indexOf(moment) + passed === killAt;
    const kill = () => process.kill(platform.process.pid, 'SIGKILL');
    const body = await readRequestBody(req);
    if (isKilledAt('before control-plane has it')) return kill();
    const { authorization = '' } = req.headers;
    const headers = { authorization, 'content-type': 'application/json' };
    const answer = await fetch(rows.url + req.url!, { method: 'POST', headers, body: new Uint8Array(body) });
    const text = await answer.text();
    if (isKilledAt('before the answer')) return kill();
    const isLast = isKilledAt('after the answer');
    passed += MOMENTS.length;
    res.writeHead(answer.status, { 'content-type': 'application/json' }).end(text, () => {
      if (isLast) kill();
    });
  });
  platform = await TestPlatform.open({}, { controlPlaneUrl: line.url, hasOwnProcess: true, readyPath: null });
});
afterAll(async () => {
  await platform.close();
  await line.close();
  await rows.close();
});

/** Returns whether the broker becomes ready, and not killed before. */
async function isReady({ url, exited }: TestServiceProcess): Promise<boolean> {
  let isKilled = false;
  exited.then(() => {
    isKilled = true;
  });
  const isServing = async () => (await fetch(`${url}/ok?check_db=1`).catch(() => null))?.ok;
  await waitFor(async () => isKilled || (await isServing()), { what: 'the broker, ready or killed' });
  return !isKilled;
}

it('a broker that is killed at any moment of the move goes on with it, and loses and doubles nothing', async () => {
  const secrets = { accessToken: 'a', refreshToken: null, origin: 'https://provider.example.com', metadata: {} };
  const provider = await rows.addProvider({ provider_id: 'crm' }, 'a-secret');
  for (let count = 0; count < 60; count++) {
    const token = await rows.addToken(provider, randomUUID(), secrets);
    if (count % 2 === 0) await rows.addConnection(provider, token, `agent-${count}`, randomUUID());
  }
  await rows.addFlow(provider, randomUUID(), 'https://agents.example.com/v2/auth/callback/crm', 'v'.repeat(43));
  const before = await rows.countRows();
  for (killAt = 0; ; killAt += 1) {
    passed = 0;
    await platform.startService();
    if (await isReady(platform.process)) break;
    // Each row is in one place at least.
    const [there, here] = [await rows.countRows(), await countFormerTables(platform.database.url)];
    for (const [table, count] of Object.entries(before))
      expect(there[table]! + here[table]!).toBeGreaterThanOrEqual(count);
  }
  expect(killAt).toBeGreaterThan(2 * MOMENTS.length);
  expect(await countFormerTables(platform.database.url)).toEqual(before);
  expect(await rows.countRows()).toEqual(NO_ROWS);
});
