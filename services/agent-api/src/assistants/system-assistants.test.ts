import { fileURLToPath } from 'node:url';
import { openPool } from '@runyard/database';
import { NO_ENCRYPTION } from '@runyard/encryption';
import { ByteBudget } from '@runyard/service-kit';
import { createTestDatabase } from '@runyard/test-kit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { UNRESTRICTED } from '../access/scope.ts';
import { openPrisma } from '../connections/prisma.ts';
import { ListRoom } from '../http/list-room.ts';
import { systemAssistantId } from './assistant-ids.ts';
import { AssistantStore } from './assistant-store.ts';
import { AssistantVersionStore } from './assistant-version-store.ts';
import { AssistantVisibility } from './assistant-visibility.ts';
import { ensureSystemAssistants } from './system-assistants.ts';

const migrations = fileURLToPath(new URL('../../../../packages/run-engine/prisma/migrations', import.meta.url));
const graph = { graphId: 'echo', file: '/project/echo.ts', symbol: 'graph' };
const ECHO = systemAssistantId('echo');

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let pool: ReturnType<typeof openPool>;
let stores: { store: AssistantStore; versions: AssistantVersionStore };
beforeAll(async () => {
  database = await createTestDatabase(migrations);
  pool = openPool({ connectionString: database.url, max: 4, applicationName: 'agent-api-test' });
  const prisma = openPrisma(pool);
  const room = new ListRoom(new ByteBudget(0));
  const visibility = new AssistantVisibility(['echo']);
  stores = {
    store: new AssistantStore(prisma, visibility, NO_ENCRYPTION, room),
    versions: new AssistantVersionStore(prisma, visibility, NO_ENCRYPTION, room),
  };
});
afterAll(async () => {
  await pool?.end();
  await database?.close();
});
beforeEach(() => pool.query('DELETE FROM assistant'));

const start = (defaults: Parameters<typeof ensureSystemAssistants>[2] = {}, description?: string) =>
  ensureSystemAssistants(stores, [{ ...graph, ...(description !== undefined && { description }) }], defaults);
const echo = () => stores.store.find(UNRESTRICTED, ECHO);

describe('the default assistant of a graph', () => {
  it('is created once, with the settings of the project, whichever process starts first', async () => {
    const defaults = { echo: { config: { recursion_limit: 7 }, context: { tone: 'polite' } } };
    await Promise.all([start(defaults, 'Echoes'), start(defaults, 'Echoes'), start(defaults, 'Echoes')]);
    expect(await echo()).toMatchObject({
      name: 'echo',
      description: 'Echoes',
      config: { recursion_limit: 7, configurable: { tone: 'polite' } },
      context: { tone: 'polite' },
      metadata: { created_by: 'system' },
      isSystem: true,
      version: 1,
    });
  });

  it('keeps what clients changed until the settings of the project change', async () => {
    await start({ echo: { context: { tone: 'polite' } } });
    await stores.versions.change(UNRESTRICTED, ECHO, (current) => ({
      content: { ...current, name: 'Renamed', config: {}, context: {} },
    }));
    await start({ echo: { context: { tone: 'polite' } } });
    expect(await echo()).toMatchObject({ name: 'Renamed', context: {}, version: 2 });
    await start({ echo: { context: { tone: 'curt' } } });
    expect(await echo()).toMatchObject({ name: 'Renamed', context: { tone: 'curt' }, version: 3 });
    await start();
    expect(await echo()).toMatchObject({ context: {}, config: {}, version: 4 });
  });

  it('is that of the project, whoever has taken its id before the graph was there', async () => {
    const taken = { graphId: 'other', name: 'mine', description: null, config: {}, context: {} };
    await stores.store.insert({ assistantId: ECHO, ...taken, metadata: { owner: 'mallory' } });
    await start({}, 'Echoes');
    const own = { graphId: 'echo', name: 'echo', description: 'Echoes', metadata: { created_by: 'system' } };
    expect(await echo()).toMatchObject({ ...own, isSystem: true });
    expect(await stores.store.find([{ owner: 'ada' }], ECHO)).toMatchObject(own);
    const mallory = [{ owner: 'mallory' }];
    expect(await stores.store.delete(mallory, ECHO)).toBe(false);
    const versions = await stores.versions.list(
      mallory,
      { assistantId: ECHO, isSystem: true },
      { limit: 10, offset: 0 },
      new AbortController().signal,
    );
    expect(versions.map(({ name }) => name)).toEqual(['echo']);
    await start({}, 'Echoes');
    expect(await echo()).toMatchObject({ version: 2 });
  });

  it('is created again at the next start when it was deleted', async () => {
    await start();
    expect(await stores.store.delete(UNRESTRICTED, ECHO)).toBe(true);
    await start();
    expect(await echo()).toMatchObject({ version: 1 });
  });
});

describe('a caller who is restricted to assistants of their own', () => {
  const mine = [{ owner: 'ada' }];
  const change = (assistantId: string) =>
    stores.versions.change(mine, assistantId, (current) => ({ content: { ...current, name: 'mine now' } }));

  it('sees default assistants and changes none of them', async () => {
    await start();
    expect(await stores.store.find(mine, ECHO)).toMatchObject({ assistantId: ECHO });
    expect(await change(ECHO)).toBeUndefined();
    expect(await stores.versions.setLatest(mine, ECHO, 1)).toBeUndefined();
    expect(await stores.store.delete(mine, ECHO)).toBe(false);
    expect(await echo()).toMatchObject({ name: 'echo' });
  });

  it('neither sees nor changes those of others', async () => {
    const assistantId = '00000000-0000-4000-8000-000000000001';
    const content = { graphId: 'echo', name: 'theirs', description: null, config: {}, context: {} };
    await stores.store.insert({ assistantId, ...content, metadata: { owner: 'bob' } });
    expect(await stores.store.find(mine, assistantId)).toBeUndefined();
    expect(await change(assistantId)).toBeUndefined();
    expect(await stores.store.delete(mine, assistantId)).toBe(false);
    expect(await stores.store.find([{ owner: 'bob' }], assistantId)).toMatchObject({ name: 'theirs', version: 1 });
  });
});
