import { randomUUID } from 'node:crypto';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestDeployment } from './deployment.ts';
import { ask } from './raw-http.ts';
import { shareDeployment } from './shared-deployment.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await shareDeployment();
});
afterAll(() => deployment?.close());

const human = (content: string) => ({ messages: [{ type: 'human', content, id: content }] });
const stateOf = (threadId: string, path = '') => ask(`${deployment.url}/threads/${threadId}/state${path}`);

/** Returns a thread of the echo graph with one checkpoint per text. */
async function threadWith(...texts: string[]) {
  const { thread_id } = await deployment.client.threads.create({ graphId: 'echo' });
  const checkpointIds: string[] = [];
  for (const text of texts) {
    const { checkpoint } = (await deployment.client.threads.updateState(thread_id, {
      values: human(text),
      asNode: 'echo',
    })) as unknown as { checkpoint: { checkpoint_id: string } };
    checkpointIds.push(checkpoint.checkpoint_id);
  }
  return { thread_id, checkpointIds };
}

const contentsOf = (state: unknown) =>
  (state as { values: { messages: { content: string }[] } }).values.messages.map(({ content }) => content);

describe('the state of a thread', () => {
  it('that never ran is empty', async () => {
    const { thread_id } = await deployment.client.threads.create();
    expect((await stateOf(thread_id)).json).toMatchObject({ values: {}, next: [], tasks: [], checkpoint: null });
    expect((await ask(`${deployment.url}/threads/${thread_id}/history`)).json).toEqual([]);
  });

  it('of a missing thread is 404', async () => {
    const id = randomUUID();
    for (const path of ['state', 'history', `state/${randomUUID()}`]) {
      expect((await ask(`${deployment.url}/threads/${id}/${path}`)).status).toBe(404);
    }
    expect((await ask(`${deployment.url}/threads/${id}/state`, { body: { values: {} } })).status).toBe(404);
  });

  it('has complete metadata, messages and checkpoints', async () => {
    const { thread_id, checkpointIds } = await threadWith('one', 'two');
    const { json } = await stateOf(thread_id);
    expect(json).toMatchObject({
      next: [],
      checkpoint: { thread_id, checkpoint_ns: '', checkpoint_id: checkpointIds[1] },
      parent_checkpoint: { thread_id, checkpoint_ns: '', checkpoint_id: checkpointIds[0] },
      checkpoint_id: checkpointIds[1],
      parent_checkpoint_id: checkpointIds[0],
      metadata: {
        thread_id,
        checkpoint_id: checkpointIds[1],
        graph_id: 'echo',
        source: 'update',
        step: expect.any(Number),
        writes: expect.anything(),
        parents: {},
      },
    });
    expect((json as { values: { messages: object[] } }).values.messages[0]).toMatchObject({
      name: null,
      example: false,
    });
  });

  it('is found at a checkpoint, named by id or in a body', async () => {
    const { thread_id, checkpointIds } = await threadWith('one', 'two');
    expect(contentsOf((await stateOf(thread_id, `/${checkpointIds[0]}`)).json)).toEqual(['one']);
    const checkpoint = { thread_id, checkpoint_ns: '', checkpoint_id: checkpointIds[0]! };
    expect(contentsOf(await deployment.client.threads.getState(thread_id, checkpoint as never))).toEqual(['one']);
  });

  it('at an unknown checkpoint is empty, with the id echoed', async () => {
    const { thread_id } = await threadWith('one');
    for (const id of [randomUUID(), 'nonsense']) {
      expect(await stateOf(thread_id, `/${id}`)).toMatchObject({
        status: 200,
        json: { values: {}, checkpoint_id: id },
      });
    }
  });
});

describe('writing state', () => {
  it('returns the checkpoint in all three forms, and shows on the thread', async () => {
    const { thread_id } = await deployment.client.threads.create({ graphId: 'echo' });
    const { json } = await ask(`${deployment.url}/threads/${thread_id}/state`, {
      body: { values: human('hi'), as_node: 'echo' },
    });
    const { checkpoint, configurable, checkpoint_id } = json as Record<string, unknown>;
    expect(configurable).toEqual(checkpoint);
    expect(checkpoint).toEqual({ thread_id, checkpoint_ns: '', checkpoint_id });
    const thread = await deployment.client.threads.get(thread_id);
    expect(contentsOf(thread)).toEqual(['hi']);
    expect(thread.status).toBe('idle');
    expect(Date.parse(thread.state_updated_at as never)).toBeGreaterThan(Date.parse(thread.created_at));
  });

  it('forks from an earlier checkpoint', async () => {
    const { thread_id, checkpointIds } = await threadWith('one', 'two');
    await deployment.client.threads.updateState(thread_id, {
      values: human('other'),
      asNode: 'echo',
      checkpointId: checkpointIds[0]!,
    });
    expect(contentsOf((await stateOf(thread_id)).json)).toEqual(['one', 'other']);
    expect(contentsOf((await stateOf(thread_id, `/${checkpointIds[1]}`)).json)).toEqual(['one', 'two']);
  });

  it('at a checkpoint that the thread does not have is 404, and changes nothing', async () => {
    const { thread_id, checkpointIds } = await threadWith('one');
    const other = await threadWith('other');
    const [own] = checkpointIds;
    for (const at of [
      { checkpoint_id: randomUUID() },
      { checkpoint_id: 'nonsense\u0000' },
      { checkpoint_id: other.checkpointIds[0] },
      { checkpoint: { checkpoint_ns: 'child:1', checkpoint_id: own } },
    ]) {
      const body = { values: human('lost'), as_node: 'echo', ...at };
      const answer = await ask(`${deployment.url}/threads/${thread_id}/state`, { body });
      expect([answer.status, answer.json]).toEqual([404, { detail: expect.stringContaining('has no checkpoint') }]);
    }
    expect(await stateOf(thread_id)).toMatchObject({ json: { checkpoint_id: own } });
    expect((await deployment.client.threads.get(thread_id)).status).toBe('idle');
  });

  it('requires a graph and a node that the graph has', async () => {
    const { thread_id } = await deployment.client.threads.create();
    const write = (body: object) => ask(`${deployment.url}/threads/${thread_id}/state`, { body });
    expect(await write({ values: {} })).toMatchObject({
      status: 400,
      json: { detail: expect.stringContaining('has no assigned graph ID') },
    });
    await deployment.client.threads.update(thread_id, { metadata: { graph_id: 'echo' } });
    expect(await write({ values: {}, as_node: 'zap' })).toMatchObject({
      status: 400,
      json: { detail: expect.stringMatching(/zap.* does not exist/) },
    });
  });

  it('that others write at the same time has all updates that were accepted, and none that was refused', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { thread_id } = await threadWith('begin');
      const texts = Array.from({ length: 6 }, (_, index) => `update-${index}`);
      const answers = await Promise.all(
        texts.map((text) =>
          ask(`${deployment.url}/threads/${thread_id}/state`, { body: { values: human(text), as_node: 'echo' } }),
        ),
      );
      for (const { status } of answers) expect([200, 409]).toContain(status);
      const accepted = texts.filter((_, index) => answers[index]!.status === 200);
      const [first, ...rest] = contentsOf((await stateOf(thread_id)).json);
      expect([first, ...rest.sort()]).toEqual(['begin', ...accepted]);
    }
  });

  it('is refused while a run is in flight', async () => {
    const { thread_id } = await threadWith('one');
    const { run_id } = await deployment.client.runs.create(thread_id, 'echo', { input: {} });
    expect(await ask(`${deployment.url}/threads/${thread_id}/state`, { body: { values: human('x') } })).toMatchObject({
      status: 409,
      json: { detail: expect.stringContaining(run_id) },
    });
  });

  it('keeps U+0000', async () => {
    const { thread_id } = await threadWith('nul\u0000l');
    expect(contentsOf((await stateOf(thread_id)).json)).toEqual(['nul\u0000l']);
    expect(contentsOf(await deployment.client.threads.get(thread_id))).toEqual(['nul\u0000l']);
  });
});

describe('the history of a thread', () => {
  let thread_id: string;
  let checkpointIds: string[];
  beforeAll(async () => {
    ({ thread_id, checkpointIds } = await threadWith('one', 'two', 'three'));
  });
  const history = async (body?: object, query = '') =>
    (await ask(`${deployment.url}/threads/${thread_id}/history${query}`, body ? { body } : {})).json as {
      checkpoint_id: string;
    }[];

  it('returns one state unless more are requested, newest first', async () => {
    expect((await history()).map((state) => state.checkpoint_id)).toEqual([checkpointIds[2]]);
    expect((await history({})).map((state) => state.checkpoint_id)).toEqual([checkpointIds[2]]);
    expect((await history({ limit: 10 })).map((state) => state.checkpoint_id)).toEqual([...checkpointIds].reverse());
    expect(await history(undefined, '?limit=0')).toEqual([]);
  });

  it('begins before a checkpoint, named in any form', async () => {
    const earlier = [checkpointIds[0]];
    const named = { checkpoint_id: checkpointIds[1] };
    for (const before of [named, { configurable: named }]) {
      expect((await history({ limit: 10, before })).map((state) => state.checkpoint_id)).toEqual(earlier);
    }
    const byQuery = await history(undefined, `?limit=10&before=${checkpointIds[1]}`);
    expect(byQuery.map((state) => state.checkpoint_id)).toEqual(earlier);
  });

  it('has the fields that are selected alone, and of the values the keys that are', async () => {
    const { thread_id, checkpointIds } = await threadWith('a', 'b');
    const path = `${deployment.url}/threads/${thread_id}/history`;
    const select = ['values.messages', 'values.none', 'checkpoint_id'];
    const { json } = await ask(`${path}?limit=5&${select.map((field) => `select=${field}`).join('&')}`);
    expect(json).toEqual([
      { values: { messages: expect.any(Array) }, checkpoint_id: checkpointIds[1] },
      { values: { messages: expect.any(Array) }, checkpoint_id: checkpointIds[0] },
    ]);
    expect((json as unknown[]).map(contentsOf)).toEqual([['a', 'b'], ['a']]);
    expect((await ask(path, { body: { limit: 5, select } })).json).toEqual(json);
    expect((await ask(`${path}?select=next`)).json).toEqual([{ next: [] }]);
    expect((await ask(`${path}?select=secrets`)).status).toBe(422);
  });

  it('filters by metadata', async () => {
    expect(await history({ limit: 10, metadata: { source: 'update' } })).toHaveLength(3);
    expect(await history({ limit: 10, metadata: { source: 'input' } })).toHaveLength(0);
  });
});

it('the values of a thread catch up with its newest checkpoint when the process that wrote it died before storing them', async () => {
  const { thread_id } = await threadWith('one', 'two');
  // This is the state that a process leaves which ended between the two.
  await deployment.pool.query(`UPDATE thread_state SET "values" = '{}', checkpoint_id = 'older' WHERE thread_id = $1`, [
    thread_id,
  ]);
  await deployment.pool.query(
    `UPDATE thread SET status = 'error', error = '{"error":"E","message":"m"}' WHERE thread_id = $1`,
    [thread_id],
  );
  await deployment.pool.query('INSERT INTO thread_state_behind (thread_id) VALUES ($1)', [thread_id]);
  const thread = await waitFor(async () => {
    const { json } = await ask(`${deployment.url}/threads/${thread_id}`);
    return (json as { values: { messages?: unknown } }).values.messages ? json : undefined;
  });
  expect(contentsOf(thread)).toEqual(['one', 'two']);
  expect(thread).toMatchObject({ status: 'error', error: { error: 'E' } });
});
