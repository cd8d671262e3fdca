import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { openPool } from '@runyard/database';
import { type DataCipher, NO_ENCRYPTION } from '@runyard/encryption';
import { createTestDatabase, type TestDatabase, waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { UNRESTRICTED } from '../src/access/scope.ts';
import { AssistantIds } from '../src/assistants/assistant-ids.ts';
import { AssistantLookup } from '../src/assistants/assistant-lookup.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../packages/run-engine/prisma/migrations', import.meta.url));

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(MIGRATIONS);
});
afterAll(() => database.close());

it('runs of other assistants do not wait for one whose key is not to be had', async () => {
  let waiting = 0;
  const loadKeys: DataCipher['loadKeys'] = (values) => {
    if (!JSON.stringify(values).includes('hung')) return undefined;
    waiting += 1;
    return new Promise(() => undefined);
  };
  const connection = { connectionString: database.url, applicationName: 'assistant-lookup-test' };
  const pool = openPool({ ...connection, max: 2, beforeRows: loadKeys });
  const [hung, other] = [randomUUID(), randomUUID()];
  await pool.query(
    `INSERT INTO assistant (assistant_id, graph_id, name, context)
     VALUES ($1, 'echo', 'A', '{"of": "hung"}'), ($2, 'echo', 'B', '{"of": "other"}')`,
    [hung, other],
  );
  const lookup = new AssistantLookup(pool, new AssistantIds(['echo']), { ...NO_ENCRYPTION, needsKeys: true, loadKeys });
  void lookup.find(UNRESTRICTED, hung);
  // Both are in one statement.
  expect(await lookup.find(UNRESTRICTED, other)).toMatchObject({ context: { of: 'other' } });
  await waitFor(() => waiting === 1, { what: 'the key of the first' });
  expect(await lookup.find(UNRESTRICTED, other)).toMatchObject({ assistantId: other });
  await lookup.close();
  await pool.end();
});
