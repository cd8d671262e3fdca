import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { openPool } from '@runyard/database';
import type { KeyHandlers, ProjectCipher } from '@runyard/encryption';
import { openProjectCipher, RunEngine } from '@runyard/run-engine';
import { createTestDatabase, type TestDatabase } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { GivenAnswers } from '../src/mcp/tasks/given-answers.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../packages/run-engine/prisma/migrations', import.meta.url));
const turn = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0x5a);
const HANDLERS: KeyHandlers = {
  encrypt: async (_, bytes) => turn(bytes),
  decrypt: async (_, bytes) => ({ plaintext: turn(bytes) }),
};

interface Process {
  cipher: ProjectCipher;
  engine: RunEngine;
  answers: GivenAnswers;
}

let database: TestDatabase;
const closes: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  database = await createTestDatabase(MIGRATIONS);
});
afterAll(async () => {
  for (const close of closes.reverse()) await close();
  await database.close();
});

/** Opens what a process of the deployment has, with no key loaded. */
async function openProcess(): Promise<Process> {
  const connection = { connectionString: database.url, applicationName: 'given-answers-test' };
  const { cipher, close } = openProjectCipher({ ...connection, handlers: HANDLERS, onFailure: console.error });
  const pool = openPool({ ...connection, max: 2, beforeRows: (rows) => cipher.loadKeys(rows) });
  const engine = new RunEngine({ pool, deploymentId: 'test', source: '/test', cipher });
  closes.push(
    close,
    () => pool.end(),
    () => engine.close(),
  );
  await cipher.open();
  return { cipher, engine, answers: new GivenAnswers(pool, cipher) };
}

it('a process that has not seen the tenant’s key reads answers that another one was given, and adds to them', async () => {
  const first = await openProcess();
  const { run } = await first.engine.createRun({
    runId: randomUUID(),
    keepsThread: true,
    ifThreadMissing: 'reject',
    assistantId: randomUUID(),
    graphId: 'agent',
    metadata: {},
    kwargs: {},
    multitaskStrategy: 'enqueue',
  });
  const { runId, threadId: contextId } = run;
  const pool = openPool({ connectionString: database.url, max: 1, applicationName: 'given-answers-test' });
  closes.push(() => pool.end());
  await pool.query("UPDATE run SET status = 'success' WHERE run_id = $1", [runId]);
  const inScope = await first.cipher.scopeFor({ tenant: 'ada' });
  await inScope(() => first.answers.add({ runId, contextId }, { colour: 'blue' }));
  const { rows } = await pool.query('SELECT metadata FROM run WHERE run_id = $1', [runId]);
  expect(JSON.stringify(rows)).not.toContain('blue');

  const [reading, adding] = [await openProcess(), await openProcess()];
  const [seen] = await reading.engine.findRuns([runId]);
  expect(await reading.answers.of(seen!.metadata)).toEqual({ colour: 'blue' });
  expect(await adding.answers.add({ runId, contextId }, { size: 7 })).toEqual({ colour: 'blue', size: 7 });
});
