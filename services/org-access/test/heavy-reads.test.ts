import { waitFor, withDatabaseClient } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestOrgAccess } from './support/platform.ts';
import { ScimClient } from './support/scim-client.ts';

let platform: TestOrgAccess;
beforeAll(async () => {
  platform = await TestOrgAccess.start({ environment: { DATABASE_POOL_SIZE: '4' } });
});
afterAll(() => platform?.close());

/** Returns the number of statements that wait for a lock. */
const waiting = () =>
  withDatabaseClient(platform.database.url, async (client) => {
    const { rowCount } = await client.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rowCount ?? 0;
  });

it('keys are checked while an identity provider searches with more requests than there are connections', async () => {
  const scim = await ScimClient.create(platform);
  const key = platform.bootstrap.api_key;
  await withDatabaseClient(platform.database.url, async (client) => {
    // Statements that wait for a lock are as slow as a test needs.
    await client.query('BEGIN; LOCK TABLE scim_user IN ACCESS EXCLUSIVE MODE');
    const searches = Array.from({ length: 6 }, () => scim.get('/Users?filter=title+co+"x"'));
    await waitFor(async () => (await waiting()) >= 2, { what: 'searches that wait' });
    expect((await platform.verify(key)).status).toBe(200);
    expect(await waiting()).toBe(2);
    await client.query('ROLLBACK');
    expect((await Promise.all(searches)).map(({ status }) => status)).toEqual(Array(6).fill(200));
  });
});
