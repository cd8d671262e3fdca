import type { JsonHandlers, PlacedJson, ProjectCipher } from '@runyard/encryption';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { encryption } from './project/encryption.ts';
import { type Deployment, openDeployment } from './worker-fixture.ts';

const SECRET = 'the cat is in the kettle';
const ADA = { tenant: 'ada' };
/** Columns in which a run leaves its content. */
const COLUMNS = [
  ['run', 'kwargs'],
  ['run', 'result'],
  ['thread_state', 'values'],
  ['checkpoint', 'data'],
  ['checkpoint_blob', 'data'],
  ['checkpoint_write', 'data'],
] as const;

/** Asks the project's handlers, as a host does. */
const ofHandlers =
  (action: 'encrypt' | 'decrypt'): JsonHandlers['encrypt'] =>
  (metadata, objects: PlacedJson[]) =>
    Promise.all(objects.map(({ data }) => encryption[action].json({ metadata }, data).catch((error: Error) => error)));
const JSON_HANDLERS: JsonHandlers = { encrypt: ofHandlers('encrypt'), decrypt: ofHandlers('decrypt') };

let deployment: Deployment;
let cipher: ProjectCipher;
beforeAll(async () => {
  deployment = await openDeployment({
    projectEncryption: {
      encrypt: (metadata, bytes) => encryption.encrypt.blob({ metadata }, bytes),
      decrypt: async (metadata, bytes) => ({ plaintext: await encryption.decrypt.blob({ metadata }, bytes) }),
    },
  });
  cipher = deployment.cipher as ProjectCipher;
  await cipher.open(JSON_HANDLERS);
});
afterAll(() => deployment?.close());

it('a killed worker’s run goes on elsewhere, and all it leaves is encrypted in the context of its caller', async () => {
  const [ledger, gate] = [deployment.file(), deployment.file()];
  await gate.write('one');
  const input = { ledger: ledger.path, gate: gate.path, log: [SECRET] };
  const inScope = await cipher.scopeFor(ADA);
  const threadId = await deployment.thread();
  const first = await deployment.startWorkerProcess();
  const run = await inScope(() => deployment.create('steps', { threadId, input, durability: 'sync', resumable: true }));
  await waitFor(async () => (await ledger.lines()).includes('two'), { what: 'the second step' });
  await first.stop({ signal: 'SIGKILL' });
  await gate.write('one two three');
  await deployment.startWorker();
  const ended = await deployment.ended(run);
  expect(ended).toMatchObject({ status: 'success', attempt: 2 });
  expect(JSON.parse(Buffer.from(ended.result!).toString()).log).toEqual([SECRET, 'one', 'two', 'three']);
  expect((await deployment.events(run)).filter(({ data }) => data.includes(SECRET)).length).toBeGreaterThan(1);
  const redis = await deployment.redisContents();
  expect([redis.includes(threadId), redis.includes(SECRET)]).toEqual([true, false]);
  for (const [table, column] of COLUMNS) {
    const keys = await deployment.rows(
      `SELECT DISTINCT k.context FROM ${table} t
       LEFT JOIN encryption_key k ON k.key_id = substring(t."${column}" FROM 2 FOR 16)
       WHERE t.thread_id = $1 AND octet_length(t."${column}") > 0`,
      [threadId],
    );
    expect(keys, `${table}.${column}`).toEqual([{ context: JSON.stringify(ADA) }]);
  }
});

it('what a run puts into the store and into metadata of checkpoints is encrypted by the project’s own handlers', async () => {
  const inScope = await cipher.scopeFor(ADA);
  await deployment.startWorker();
  const metadata = { private_place: SECRET, shown_place: 'here' };
  const run = await inScope(async () =>
    deployment.create('memorize', { threadId: await deployment.thread(), input: { log: [SECRET] }, metadata }),
  );
  const ended = await deployment.ended(run);
  expect(ended).toMatchObject({ status: 'success' });
  const value = { private_log: [SECRET], shown: 'yes' };
  expect(JSON.parse(JSON.parse(Buffer.from(ended.result!).toString()).log[1])).toEqual([value, value]);
  const [item] = await deployment.rows('SELECT value FROM store_item');
  expect(item).toEqual({ value: { private_log: expect.stringMatching(/^encrypted\.json:/), shown: 'yes' } });
  expect(cipher.json.decrypt(item)).toEqual({ value });
  const checkpoints = await deployment.rows(
    "SELECT metadata, encode(metadata_data, 'escape') AS data FROM checkpoint WHERE thread_id = $1",
    [run.threadId],
  );
  expect(JSON.stringify(checkpoints)).not.toContain(SECRET);
  expect(checkpoints[0]).toMatchObject({
    metadata: { private_place: expect.stringMatching(/^encrypted\.json:/), shown_place: 'here', run_id: run.runId },
  });
  expect(cipher.json.decrypt(checkpoints[0])).toMatchObject({ metadata });
  expect(ended).toMatchObject({ metadata });
});

it('a run whose writes the project does not encrypt fails its attempt, and nothing of them is stored', async () => {
  const inScope = await cipher.scopeFor({ tenant: 'withdrawn' });
  const threadId = await deployment.thread();
  const run = await inScope(() => deployment.create('memorize', { threadId, input: { log: ['withdrawn'] } }));
  const text = `SELECT failures, ready_at > now() + interval '5 seconds' AS "isLater" FROM run
                WHERE run_id = $1 AND status = 'pending' AND attempt = 1`;
  const [released] = await waitFor(
    async () => {
      const rows = await deployment.rows(text, [run.runId]);
      return rows.length > 0 ? rows : undefined;
    },
    { what: 'the end of the attempt' },
  );
  expect(released).toEqual({ failures: 1, isLater: true });
  expect(await deployment.rows("SELECT 1 FROM store_item WHERE value::text LIKE '%withdrawn%'")).toEqual([]);
});
