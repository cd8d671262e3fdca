import { createDataCipher, EncryptionError } from '@runyard/encryption';
import { NotFoundError } from '@runyard/service-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UNRESTRICTED } from '../src/access/scope.ts';
import { NEVER, NOBODY, openServices, type TestServices } from './services.ts';

const LOST = { __error__: { error: 'SealingError', message: expect.stringContaining('LANGGRAPH_AES_KEY') } };
const ORIGIN = {
  cronScope: UNRESTRICTED,
  scope: UNRESTRICTED,
  assistantScope: UNRESTRICTED,
  creator: NOBODY,
  userId: '',
  requestId: '',
};
/** Metadata of which one key is encrypted. */
const METADATA = { of: 'this test', secret: 'tea' };
const SORTED = { metadata: { of: METADATA.of }, sort_by: 'created_at', sort_order: 'asc' } as const;

interface Things {
  assistantId: string;
  threadId: string;
  cronId: string;
}

let services: TestServices;
/** One thing of each kind whose key was lost since, and one more of each. */
let lost: Things;
let kept: Things;
beforeAll(async () => {
  services = await openServices(createDataCipher('k'.repeat(32), 'secret'));
  lost = await createThings();
  kept = await createThings();
  // The four bytes behind the first name the key.
  const bytes = `overlay(decode(split_part(metadata ->> 'secret', ':', 2), 'base64') placing '\\x00000000' from 2 for 4)`;
  for (const [table, id] of [
    ['assistant', lost.assistantId],
    ['assistant_version', lost.assistantId],
    ['thread', lost.threadId],
    ['run', lost.threadId],
    ['cron', lost.cronId],
  ]) {
    const key = table === 'run' ? 'thread_id' : `${table?.replace('_version', '')}_id`;
    const value = `to_jsonb('encrypted.aes:' || encode(${bytes}, 'base64'))`;
    await services.pool.query(
      `UPDATE ${table} SET metadata = metadata || jsonb_build_object('secret', ${value})
                               WHERE ${key} = $1`,
      [id],
    );
  }
});
afterAll(() => services?.close());

async function createThings(): Promise<Things> {
  const { assistants, threads, runs, crons } = services;
  const { assistant_id: assistantId } = await assistants.create(UNRESTRICTED, { graph_id: 'echo', metadata: METADATA });
  const { thread_id: threadId } = await threads.create(UNRESTRICTED, { metadata: METADATA });
  const origin = { ...ORIGIN, threadId };
  const settings = { assistant_id: assistantId, metadata: METADATA };
  await runs.create(origin, { ...settings, after_seconds: 3600 });
  const { cron_id: cronId } = await crons.create(origin, { ...settings, schedule: '@yearly', input: {} });
  return { assistantId, threadId, cronId };
}

describe('a thing whose encrypted keys are undecryptable', () => {
  it('is refused when it is requested or used, and nothing else is', async () => {
    const { assistants, threads, runs, crons } = services;
    const use = (assistant_id: string) => runs.create({ ...ORIGIN, threadId: kept.threadId }, { assistant_id });
    const [usedLost, usedKept] = await Promise.allSettled([use(lost.assistantId), use(kept.assistantId)]);
    expect(usedLost).toMatchObject({ reason: expect.any(EncryptionError) });
    expect(usedKept.status).toBe('fulfilled');
    const asked = [
      () => assistants.get(UNRESTRICTED, lost.assistantId),
      () => assistants.patch(UNRESTRICTED, lost.assistantId, { metadata: { more: 1 } }),
      () => threads.get(UNRESTRICTED, lost.threadId),
      () => crons.get(UNRESTRICTED, lost.cronId),
      () => crons.patch(ORIGIN, lost.cronId, { enabled: false }),
    ];
    for (const ask of asked) await expect(ask()).rejects.toThrow(EncryptionError);
    expect(await assistants.get(UNRESTRICTED, kept.assistantId)).toMatchObject({ metadata: METADATA });
  });

  it('is shown in lists but for those keys', async () => {
    const { assistants, threads, runs, crons } = services;
    const both = [{ metadata: { ...METADATA, secret: LOST } }, { metadata: METADATA }];
    expect((await assistants.search(UNRESTRICTED, SORTED, NEVER)).rows).toMatchObject(both);
    expect((await threads.search(UNRESTRICTED, SORTED, NEVER)).rows).toMatchObject(both);
    expect((await crons.search(UNRESTRICTED, SORTED, NEVER)).rows).toMatchObject(both);
    expect(await assistants.listVersions(UNRESTRICTED, kept.assistantId, {}, NEVER)).toMatchObject([both[1]]);
    expect(await runs.list(UNRESTRICTED, lost.threadId, {}, NEVER)).toMatchObject([both[0]]);
  });

  it('can be deleted', async () => {
    const { assistants, threads, crons } = services;
    await crons.delete(UNRESTRICTED, lost.cronId);
    await threads.delete(UNRESTRICTED, lost.threadId);
    await assistants.delete(UNRESTRICTED, lost.assistantId);
    await expect(assistants.get(UNRESTRICTED, lost.assistantId)).rejects.toThrow(NotFoundError);
  });
});
