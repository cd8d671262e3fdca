import type { ProjectCipher } from '@runyard/encryption';
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
  await cipher.open();
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
