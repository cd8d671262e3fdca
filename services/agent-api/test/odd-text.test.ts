import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestDeployment } from './deployment.ts';
import { ask } from './raw-http.ts';
import { shareDeployment } from './shared-deployment.ts';

/**
 * U+0000 is valid in JSON and has no place in a Postgres text: wherever a client may write it, the service must not
 * fail.
 */
let deployment: TestDeployment;
let threadId: string;
beforeAll(async () => {
  deployment = await shareDeployment();
  ({ thread_id: threadId } = await deployment.client.threads.create({ graphId: 'echo' }));
});
afterAll(() => deployment?.close());

const NUL = 'a\u0000b';
const json = { text: NUL, [NUL]: [NUL] };

const requests: [string, string, string, unknown?][] = [
  ['metadata of a thread', 'POST', '/threads', { metadata: json }],
  ['metadata patched', 'PATCH', '/threads/{thread}', { metadata: json }],
  ['a search of threads by metadata', 'POST', '/threads/search', { metadata: json }],
  ['a search of threads by values', 'POST', '/threads/search', { values: json }],
  ['a count of threads', 'POST', '/threads/count', { metadata: json }],
  [
    'an assistant',
    'POST',
    '/assistants',
    { graph_id: 'echo', name: NUL, description: NUL, metadata: json, context: json },
  ],
  ['a search of assistants', 'POST', '/assistants/search', { name: NUL, graph_id: NUL, metadata: json }],
  [
    'a run',
    'POST',
    '/runs',
    { assistant_id: 'echo', input: json, metadata: json, config: { tags: [NUL], configurable: json } },
  ],
  [
    'a run that makes its thread',
    'POST',
    '/threads/00000000-0000-4000-8000-00000000000a/runs',
    { assistant_id: 'echo', metadata: json, if_not_exists: 'create' },
  ],
  [
    'a cron',
    'POST',
    '/runs/crons',
    { assistant_id: 'echo', schedule: '0 0 1 1 *', input: json, metadata: json, config: { configurable: json } },
  ],
  ['a schedule', 'POST', '/runs/crons', { assistant_id: 'echo', schedule: `0 0 1 1 ${NUL}` }],
  ['a time zone', 'POST', '/runs/crons', { assistant_id: 'echo', schedule: '0 0 1 1 *', timezone: NUL }],
  [
    'the end of a cron',
    'POST',
    '/runs/crons',
    { assistant_id: 'echo', schedule: '0 0 1 1 *', end_time: '0000-01-01T00:00:00Z' },
  ],
  ['a search of crons', 'POST', '/runs/crons/search', { metadata: json }],
  ['a list of runs', 'GET', '/threads/{thread}/runs?status=%00'],
  ['a state', 'GET', '/threads/{thread}/state/%00'],
  ['a history before', 'POST', '/threads/{thread}/history', { before: { checkpoint_id: NUL }, limit: 3 }],
  ['a history by metadata', 'POST', '/threads/{thread}/history', { metadata: json, limit: 3 }],
  ['an item', 'PUT', '/store/items', { namespace: ['a', NUL], key: NUL, value: json }],
  ['reading an item', 'GET', '/store/items?namespace=a&key=%00'],
  ['a search of items', 'POST', '/store/items/search', { namespace_prefix: [NUL], filter: { text: NUL } }],
  ['a list of namespaces', 'POST', '/store/namespaces', { prefix: [NUL] }],
];

it.each(requests)('U+0000 in %s is no fault of the service', async (_, method, path, body) => {
  const answer = await ask(deployment.url + path.replace('{thread}', threadId), {
    method,
    ...(body !== undefined && { body }),
  });
  expect(answer.status, answer.text).toBeLessThan(500);
});

it('an unknown assistant with U+0000 in its name is reported as unknown', async () => {
  expect((await ask(`${deployment.url}/runs`, { body: { assistant_id: NUL } })).status).toBe(422);
});
