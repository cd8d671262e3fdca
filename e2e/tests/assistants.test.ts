import { describe, expect, it } from 'vitest';
import { newClient } from '../harness/client.ts';

const client = newClient();
const { assistants } = client;
/** The id that every server gives the default assistant of a graph `echo`. */
const ECHO = '046b5dc7-2108-582c-9c6c-31d556d138f0';

describe('the default assistant of a graph', () => {
  it("has its fixed id, is found by its graph's name too, and runs as it is configured", async () => {
    expect(await assistants.get('echo')).toEqual(await assistants.get(ECHO));
    expect(await assistants.get(ECHO)).toMatchObject({ name: 'echo', metadata: { created_by: 'system' } });
  });
});

describe('an assistant', () => {
  it('is created, changed, restored and deleted, and each run uses it as it is then', async () => {
    const made = await assistants.create({
      graphId: 'mirror',
      name: 'Mirror, first',
      description: 'shows what it gets',
      context: { tone: 'polite' },
      metadata: { team: 'blue' },
    });
    expect(made).toMatchObject({ version: 1, config: { configurable: { tone: 'polite' } } });

    const changed = await assistants.update(made.assistant_id, {
      name: 'Mirror, second',
      context: { tone: 'curt' },
      metadata: { size: 2 },
    });
    expect(changed).toMatchObject({ version: 2, metadata: { team: 'blue', size: 2 }, context: { tone: 'curt' } });
    const toneOfRun = async () => {
      const run = await client.runs.create(null, made.assistant_id, { input: {} });
      return (run as unknown as { kwargs: { context: unknown } }).kwargs.context;
    };
    expect(await toneOfRun()).toEqual({ tone: 'curt' });

    const versions = await assistants.getVersions(made.assistant_id);
    expect(versions.map(({ version, name }) => [version, name])).toEqual([
      [2, 'Mirror, second'],
      [1, 'Mirror, first'],
    ]);
    expect(await assistants.setLatest(made.assistant_id, 1)).toMatchObject({ name: 'Mirror, first', version: 1 });
    expect(await toneOfRun()).toEqual({ tone: 'polite' });

    const thread = await client.threads.create({ metadata: { assistant_id: made.assistant_id } });
    await assistants.delete(made.assistant_id, { deleteThreads: true });
    await expect(assistants.get(made.assistant_id)).rejects.toMatchObject({ status: 404 });
    await expect(client.threads.get(thread.thread_id)).rejects.toMatchObject({ status: 404 });
  });

  it('is refused under an id that is taken, unless the request accepts an existing one', async () => {
    const first = await assistants.create({ graphId: 'echo', name: 'first' });
    const again = { graphId: 'echo', assistantId: first.assistant_id, name: 'second' };
    await expect(assistants.create(again)).rejects.toMatchObject({ status: 409 });
    expect(await assistants.create({ ...again, ifExists: 'do_nothing' })).toMatchObject({ name: 'first' });
  });
});

describe('a search for assistants', () => {
  it('pages through all that match, and counts them', async () => {
    const metadata = { searched: crypto.randomUUID() };
    for (const name of ['a', 'b', 'c']) await assistants.create({ graphId: 'echo', name, metadata });
    expect(await assistants.count({ metadata })).toBe(3);
    const names: string[] = [];
    let offset: number | undefined = 0;
    while (offset !== undefined) {
      const page: { assistants: { name: string }[]; next: string | null } = await assistants.search({
        metadata,
        sortBy: 'name',
        sortOrder: 'asc',
        limit: 2,
        offset,
        includePagination: true,
      });
      names.push(...page.assistants.map(({ name }) => name));
      offset = page.next === null ? undefined : Number(page.next);
    }
    expect(names).toEqual(['a', 'b', 'c']);
    expect(await assistants.search({ metadata, name: 'B', select: ['name'] })).toEqual([{ name: 'b' }]);
  });
});

describe('the description of a graph', () => {
  it('has its drawing, its schemas and its subgraphs', async () => {
    const flat = await assistants.getGraph('assembly');
    expect(flat.edges).toMatchObject([
      { source: '__start__', target: 'outer' },
      { source: 'outer', target: '__end__' },
    ]);
    const deep = await assistants.getGraph('assembly', { xray: true });
    expect(deep.nodes.map(({ id }) => id)).toContain('outer:inner:drill');
    expect(await assistants.getSchemas('assembly')).toMatchObject({
      graph_id: 'assembly',
      context_schema: { properties: { pace: { enum: ['slow', 'fast'] } } },
    });
    const subgraphs = await assistants.getSubgraphs('assembly', { recurse: true });
    expect(Object.keys(subgraphs)).toEqual(['outer', 'outer|inner']);
  });

  it('has the schemas of a graph without any, from the types of its source', async () => {
    const { input_schema, state_schema } = await assistants.getSchemas('approval');
    expect(state_schema).toMatchObject({
      properties: { request: { type: 'string' }, log: { type: 'array', items: { type: 'string' } } },
      required: ['request', 'decision', 'log'],
    });
    expect(input_schema).not.toHaveProperty('required');
  });
});
