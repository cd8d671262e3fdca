import { createHash, randomInt } from 'node:crypto';
import { OWNERS } from './generate.ts';

/** One kind of request; each call of `request` makes another one of it. */
export interface QueryKind {
  name: string;
  request(): { method: 'GET' | 'POST'; path: string; body?: unknown };
}

const search = (name: string, body: () => object): QueryKind => ({
  name: `search ${name}`,
  request: () => ({
    method: 'POST',
    path: '/threads/search',
    body: { select: ['thread_id', 'status', 'metadata'], ...body() },
  }),
});
const count = (name: string, body: () => object): QueryKind => ({
  name: `count ${name}`,
  request: () => ({ method: 'POST', path: '/threads/count', body: body() }),
});
const get = (name: string, path: () => string): QueryKind => ({
  name,
  request: () => ({ method: 'GET', path: path() }),
});

/** @param longId a thread with a history of ten thousand states */
export function createQueryKinds(threads: number, longId: string): QueryKind[] {
  const owner = () => ({ owner: `user-${randomInt(OWNERS)}` });
  const threadId = () => toUuid(randomInt(threads));
  const day = () => new Date(Date.now() - randomInt(300) * 86_400_000);
  return [
    search('newest', () => ({})),
    search('newest, with values', () => ({ select: undefined })),
    search('page 100 of all', () => ({ offset: 1_000 })),
    search('by owner', () => ({ metadata: owner() })),
    search('by owner, with values', () => ({ metadata: owner(), select: undefined })),
    search('by owner and status', () => ({ metadata: owner(), status: 'interrupted' })),
    search('by owner, oldest first', () => ({ metadata: owner(), sort_by: 'created_at', sort_order: 'asc' })),
    search('by owner, by time of state', () => ({ metadata: owner(), sort_by: 'state_updated_at' })),
    search('by owner, sorted by status', () => ({ metadata: owner(), sort_by: 'status' })),
    search('by owner, last page', () => ({ metadata: owner(), offset: 900 })),
    search('by what half of them have', () => ({ metadata: { region: 'eu' } })),
    search('by what one in fifty has', () => ({ metadata: { tags: [`tag-${randomInt(50)}`] } })),
    search('by what one has', () => ({ metadata: { serial: randomInt(threads) } })),
    search('by what none has', () => ({ metadata: { owner: 'nobody' } })),
    search('by status', () => ({ status: 'error' })),
    search('by status and common metadata', () => ({ status: 'busy', metadata: { region: 'us' } })),
    search('sorted by status', () => ({ sort_by: 'status' })),
    search('sorted by id', () => ({ sort_by: 'thread_id', sort_order: 'asc' })),
    search('by time of state', () => ({
      state_updated_after: day().toISOString(),
      sort_by: 'state_updated_at',
      sort_order: 'asc',
    })),
    search('by ten ids', () => ({ ids: Array.from({ length: 10 }, threadId) })),
    count('all', () => ({})),
    count('by status', () => ({ status: 'interrupted' })),
    count('by owner', () => ({ metadata: owner() })),
    count('by owner and status', () => ({ metadata: owner(), status: 'idle' })),
    count('by what one in fifty has', () => ({ metadata: { tags: [`tag-${randomInt(50)}`] } })),
    count('by what half of them have', () => ({ metadata: { region: 'eu' } })),
    get('get', () => `/threads/${threadId()}`),
    get('state', () => `/threads/${threadId()}/state`),
    get('state of the long thread', () => `/threads/${longId}/state`),
    get('history', () => `/threads/${threadId()}/history?limit=10`),
    get('history of the long thread', () => `/threads/${longId}/history?limit=10`),
    get('history of the long thread, from its middle', () => {
      const before = `${(randomInt(9_000) + 500).toString(16).padStart(8, '0')}-0000-6000-8000-000000000000`;
      return `/threads/${longId}/history?limit=10&before=${before}`;
    }),
    get('storage', () => `/threads/${threadId()}/storage`),
  ];
}

/** Returns the id that the database gives the nth thread: its md5 as a uuid. */
function toUuid(n: number): string {
  const hex = createHash('md5').update(String(n)).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
