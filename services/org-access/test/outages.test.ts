import { FaultLine, waitFor } from '@runyard/test-kit';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { TestOrgAccess } from './support/platform.ts';

let platform: TestOrgAccess;
let line: FaultLine;
beforeAll(async () => {
  platform = await TestOrgAccess.start({
    reach: async (url) => {
      line = await FaultLine.to(url);
      return line.url;
    },
  });
});
afterEach(() => line.heal());
afterAll(async () => {
  await platform.close();
  await line.close();
});

const ready = () => fetch(`${platform.service.url}/ok?check_db=1`).then((answer) => answer.status);

it.each(['refuse', 'partition'] as const)(
  'while Postgres is unavailable (%s) org-access stays up and answers, and works again afterwards',
  async (failure) => {
    const key = platform.bootstrap.api_key;
    await line[failure]();
    // The first request reads, the second begins a transaction.
    const answers = await Promise.all([platform.verify(key), platform.internal('/internal/bootstrap', {}), ready()]);
    expect(answers).toEqual([
      expect.objectContaining({ status: 503, body: { detail: 'The database is not available' } }),
      expect.objectContaining({ status: 503 }),
      503,
    ]);
    expect((await fetch(`${platform.service.url}/ok`)).status).toBe(200);
    await line.heal();
    await waitFor(async () => (await ready()) === 200, { what: 'being ready again' });
    expect((await platform.verify(key)).status).toBe(200);
  },
);
