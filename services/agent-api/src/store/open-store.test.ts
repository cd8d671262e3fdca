import { BackendError } from '@runyard/checkpointer';
import { NO_ENCRYPTION } from '@runyard/encryption';
import { GraphLoadError } from '@runyard/host-protocol';
import { ByteBudget, type Logger } from '@runyard/service-kit';
import type pg from 'pg';
import { expect, it, vi } from 'vitest';
import { RouteGuard } from '../auth/route-guard.ts';
import { ListRoom } from '../http/list-room.ts';
import { openStore } from './open-store.ts';

/** A database without pgvector and without vectors. */
const pool = { query: async () => ({ rows: [], rowCount: 0 }) } as unknown as pg.Pool;
const project = { directory: '/p', store: { index: { embed: './embed.ts:embed', dims: 7 } } };

function openStoreWith(embed: () => Promise<Float32Array[]>) {
  const logger = { info: vi.fn(), warn: vi.fn(), debug: vi.fn() };
  const listRoom = new ListRoom(new ByteBudget(0));
  const parts = { project, pool, cipher: NO_ENCRYPTION, listRoom, guard: new RouteGuard() };
  return { store: openStore({ ...parts, host: { embed }, logger: logger as unknown as Logger }), logger };
}

it('the store does not start with embeddings of other dimensions', async () => {
  const { store } = openStoreWith(async () => [new Float32Array(26)]);
  await expect(store.start()).rejects.toThrow(
    'langgraph.json: store.index.dims is 7, and ./embed.ts:embed makes vectors of 26 dimensions.',
  );
});

it('the store does not start with embeddings that cannot be loaded', async () => {
  const { store } = openStoreWith(async () => Promise.reject(new GraphLoadError('@langchain/openai is not installed')));
  await expect(store.start()).rejects.toThrow('is not installed');
});

it('the store starts while the model is away, and logs that', async () => {
  const { store, logger } = openStoreWith(async () => Promise.reject(new BackendError('embedding_failed', 'away')));
  await store.start();
  expect(logger.warn).toHaveBeenCalledOnce();
});

it('the store starts with embeddings of the configured dimensions', async () => {
  const { store, logger } = openStoreWith(async () => [new Float32Array(7)]);
  await store.start();
  expect(logger.warn).not.toHaveBeenCalled();
});
