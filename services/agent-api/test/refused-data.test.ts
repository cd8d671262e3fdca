import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestDeployment } from './deployment.ts';
import { ask } from './raw-http.ts';
import { shareDeployment } from './shared-deployment.ts';

/** Valid JSON that no database or stack can take must be refused clearly; it is no fault of the service. */
let deployment: TestDeployment;
let threadId: string;
beforeAll(async () => {
  deployment = await shareDeployment();
  ({ thread_id: threadId } = await deployment.client.threads.create({ graphId: 'echo' }));
});
afterAll(() => deployment?.close());

function nestJson(depth: number): string {
  return `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
}

const DEEP = nestJson(20_000);

const deep: [string, string, string, string][] = [
  ['input of a run', 'POST', '/runs', `{"assistant_id":"echo","input":${DEEP}}`],
  ['metadata of a thread', 'POST', '/threads', `{"metadata":${DEEP}}`],
  ['a search of threads', 'POST', '/threads/search', `{"metadata":${DEEP}}`],
  ['an assistant', 'POST', '/assistants', `{"graph_id":"echo","metadata":${DEEP}}`],
  ['a state update', 'POST', '/threads/{thread}/state', `{"values":${DEEP}}`],
  ['an item', 'PUT', '/store/items', `{"namespace":["a"],"key":"k","value":${DEEP}}`],
  ['a search of items', 'POST', '/store/items/search', `{"namespace_prefix":["a"],"filter":${DEEP}}`],
];

it.each(deep)('JSON nested too deeply in %s is refused', async (_, method, path, text) => {
  const answer = await fetch(deployment.url + path.replace('{thread}', threadId), { method, body: text });
  expect([answer.status, await answer.json()]).toEqual([422, { detail: 'The request is nested too deeply' }]);
});

it.each(['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+23:59'])(
  'a time that Postgres cannot parse, %s, is refused',
  async (time) => {
    const answer = await ask(`${deployment.url}/threads/search`, { body: { state_updated_before: time } });
    expect([answer.status, answer.json]).toEqual([422, { detail: 'A date or time of the request is out of range' }]);
  },
);

it('a depth of namespaces beyond any integer is refused', async () => {
  const answer = await ask(`${deployment.url}/store/namespaces`, { body: { max_depth: 2 ** 31 } });
  expect(answer.status, answer.text).toBe(422);
});

it.each([{ configurable: null }, { configurable: {} }, {}])('the history before %j is all of it', async (before) => {
  const answer = await ask(`${deployment.url}/threads/${threadId}/history`, { body: { before } });
  expect(answer.status, answer.text).toBe(200);
});
