import type { RecordedClient } from './recorded-client.ts';

export interface Scenario {
  /** The part of the API or of LangGraph that it compares. */
  name: string;
  /** The project whose graphs it runs; default: `python`. */
  project?: 'python-workspace';
  run(client: RecordedClient): Promise<void>;
}

const MODES = ['values', 'updates', 'messages', 'messages-tuple', 'custom', 'tasks', 'checkpoints', 'debug', 'events'];
const HELLO = { messages: [{ role: 'user', content: 'hello', id: 'question' }] };

/** Runs a graph on a thread, once in each mode, and looks at what is kept. */
function ofGraph(graph: string, body: object, { modes = MODES }: { modes?: string[] } = {}): Scenario {
  return {
    name: `graph ${graph}`,
    async run(client) {
      for (const mode of modes)
        await client.send('POST', '/runs/stream', { assistant_id: graph, ...body, stream_mode: [mode] });
      const { thread_id: id } = await client.send('POST', '/threads', {});
      await client.send('POST', `/threads/${id}/runs/wait`, { assistant_id: graph, ...body });
      for (const path of ['', '/state', '/state?subgraphs=true']) await client.send('GET', `/threads/${id}${path}`);
      await client.send('POST', `/threads/${id}/history`, { limit: 20 });
    },
  };
}

const server: Scenario = {
  name: 'what the server is',
  async run(client) {
    for (const path of ['/info', '/ok']) await client.send('GET', path);
  },
};

/** Asks for what a graph is. */
const descriptions: Scenario = {
  name: 'what graphs are',
  async run(client) {
    const assistants = await client.send('POST', '/assistants/search', {
      limit: 100,
      sort_by: 'name',
      sort_order: 'asc',
    });
    for (const { assistant_id: id } of assistants) {
      for (const path of ['', '/schemas', '/graph', '/graph?xray=true', '/subgraphs', '/subgraphs?recurse=true'])
        await client.send('GET', `/assistants/${id}${path}`);
    }
  },
};

const assistants: Scenario = {
  name: 'assistants',
  async run(client) {
    const body = { graph_id: 'with_context', name: 'Gloomy', config: { tags: ['a'] }, metadata: { team: 'x' } };
    const made = await client.send('POST', '/assistants', { ...body, context: { mood: 'sad' } });
    const path = `/assistants/${made.assistant_id}`;
    await client.send('PATCH', path, { context: { mood: 'glad', level: 3 }, description: 'Of a mood' });
    await client.send('POST', `${path}/versions`, {});
    await client.send('POST', '/runs/wait', { assistant_id: made.assistant_id, input: { text: '' } });
    await client.send('POST', `${path}/latest`, { version: 1 });
    await client.send('POST', '/runs/wait', { assistant_id: made.assistant_id, input: { text: '' } });
    await client.send('POST', '/assistants/search', { metadata: { team: 'x' } });
    await client.send('POST', '/assistants/search', { metadata: { team: 'x' }, select: ['name', 'graph_id'] });
    await client.send('POST', '/assistants/count', { metadata: { team: 'x' } });
    await client.send('POST', '/assistants', { ...body, assistant_id: made.assistant_id });
    await client.send('POST', '/assistants', { ...body, assistant_id: made.assistant_id, if_exists: 'do_nothing' });
    await client.send('POST', '/assistants', { graph_id: 'no-such-graph' });
    await client.send('DELETE', path);
    await client.send('GET', path);
    await client.send('GET', '/assistants/no-uuid');
  },
};

const threads: Scenario = {
  name: 'threads',
  async run(client) {
    const metadata = { topic: 'oracle' };
    const { thread_id: id } = await client.send('POST', '/threads', { metadata });
    const path = `/threads/${id}`;
    await client.send('PATCH', path, { metadata: { more: 1 } });
    await client.send('GET', `${path}/state`);
    await client.send('POST', `${path}/runs/wait`, { assistant_id: 'nested', input: { log: ['start'] } });
    await client.send('POST', `${path}/state`, { values: { log: ['by hand'] }, as_node: 'first' });
    const state = await client.send('GET', `${path}/state`);
    await client.send('GET', `${path}/state/${state.checkpoint?.checkpoint_id}`);
    await client.send('POST', `${path}/state/checkpoint`, { checkpoint: state.checkpoint });
    await client.send('POST', `${path}/state`, { values: { log: ['x'] }, as_node: 'nobody' });
    await client.send('POST', `${path}/history`, { limit: 2 });
    await client.send('POST', `${path}/history`, {
      limit: 10,
      before: { configurable: { checkpoint_id: state.checkpoint.checkpoint_id } },
    });
    await client.send('GET', `${path}/history?limit=1`);
    await client.send('POST', `${path}/runs/wait`, {
      assistant_id: 'nested',
      checkpoint: state.checkpoint,
      input: null,
    });
    await client.send('POST', `${path}/copy`);
    await client.send('POST', '/threads/search', { metadata, sort_by: 'created_at', sort_order: 'asc' });
    await client.send('POST', '/threads/search', { metadata, status: 'idle', select: ['thread_id', 'status'] });
    await client.send('POST', '/threads/count', { metadata });
    await client.send('POST', '/threads', { thread_id: id });
    await client.send('POST', '/threads', { thread_id: id, if_exists: 'do_nothing' });
    const steps = [{ updates: [{ values: { log: ['made'] }, as_node: '__input__' }] }];
    await client.send('POST', '/threads', { metadata: { graph_id: 'nested' }, supersteps: steps });
    await client.send('DELETE', path);
    for (const method of ['GET', 'DELETE']) await client.send(method, path);
    await client.send('GET', '/threads/no-uuid');
    await client.send('GET', `${path}/state`);
  },
};

const runs: Scenario = {
  name: 'runs',
  async run(client) {
    const { thread_id: id } = await client.send('POST', '/threads', {});
    const path = `/threads/${id}/runs`;
    const body = { assistant_id: 'counts', input: { count: 0, until: 3 } };
    const run = await client.send('POST', path, {
      ...body,
      metadata: { a: 1 },
      config: { tags: ['t'], recursion_limit: 9 },
    });
    await client.send('GET', `${path}/${run.run_id}/join`);
    await client.send('GET', `${path}/${run.run_id}`);
    await client.send('GET', path);
    await client.send('GET', `${path}?status=success&limit=1`);
    await client.send('POST', `${path}/wait`, { ...body, config: { recursion_limit: 2 } });
    await client.send('GET', `/threads/${id}`);
    await client.send('POST', `${path}/stream`, { ...body, stream_mode: 'values', on_completion: 'delete' });
    await client.send('POST', `${path}/stream`, {
      ...body,
      stream_mode: ['values', 'updates'],
      stream_subgraphs: true,
    });
    await client.send('POST', `${path}/${run.run_id}/cancel?wait=true`);
    await client.send('DELETE', `${path}/${run.run_id}`);
    await client.send('GET', `${path}/${run.run_id}`);
    await client.send('POST', path, { ...body, assistant_id: 'no-such-graph' });
    await client.send('POST', path, { assistant_id: 'counts', multitask_strategy: 'nonsense' });
    await client.send('POST', path, { assistant_id: 'counts', stream_mode: 'nonsense' });
    await client.send('POST', path, {});
    await client.send('POST', '/threads/00000000-0000-4000-8000-000000000000/runs', body);
    await client.send('POST', '/runs/batch', [body, { ...body, assistant_id: 'chat', input: HELLO }]);
    await client.send('POST', '/runs/wait', { ...body, if_not_exists: 'create' });
    await client.send('POST', `${path}/crons`, { ...body, schedule: 'nonsense' });
  },
};

const crons: Scenario = {
  name: 'crons',
  async run(client) {
    const body = {
      assistant_id: 'counts',
      schedule: '0 0 1 1 *',
      input: { count: 0, until: 1 },
      metadata: { of: 'oracle' },
    };
    const cron = await client.send('POST', '/runs/crons', body);
    await client.send('POST', '/runs/crons/search', { metadata: { of: 'oracle' } });
    await client.send('POST', '/runs/crons/count', {});
    await client.send('DELETE', `/runs/crons/${cron.cron_id}`);
    await client.send('DELETE', `/runs/crons/${cron.cron_id}`);
    await client.send('POST', '/runs/crons', { ...body, schedule: 'nonsense' });
  },
};

const store: Scenario = {
  name: 'store',
  async run(client) {
    const namespace = ['oracle', 'ada'];
    await client.send('PUT', '/store/items', { namespace, key: 'one', value: { text: 'first', n: 1 } });
    await client.send('PUT', '/store/items', { namespace: ['oracle', 'bob'], key: 'two', value: { n: 2 } });
    await client.send('GET', '/store/items?namespace=oracle.ada&key=one');
    await client.send('POST', '/store/items/search', { namespace_prefix: ['oracle'] });
    await client.send('POST', '/store/items/search', { namespace_prefix: ['oracle'], filter: { n: { $gt: 1 } } });
    await client.send('POST', '/store/namespaces', { prefix: ['oracle'] });
    await client.send('POST', '/store/namespaces', { prefix: ['oracle'], suffix: ['ada'] });
    await client.send('DELETE', '/store/items', { namespace, key: 'one' });
    await client.send('GET', '/store/items?namespace=oracle.ada&key=one');
    await client.send('PUT', '/store/items', { namespace: ['a.b'], key: 'x', value: {} });
    await client.send('PUT', '/store/items', { namespace: [], key: 'x', value: {} });
    await client.send('PUT', '/store/items', { namespace, key: 'x', value: 'text' });
    await client.send('DELETE', '/store/items', { namespace: ['oracle', 'bob'], key: 'two' });
  },
};

/** A thread that waits for an answer, and goes on with it. */
function ofInterrupt(graph: string, resume: (interrupts: { id: string }[]) => unknown): Scenario {
  return {
    name: `interrupts of ${graph}`,
    async run(client) {
      const { thread_id: id } = await client.send('POST', '/threads', {});
      const path = `/threads/${id}`;
      await client.send('POST', `${path}/runs/stream`, {
        ...{ assistant_id: graph, input: { answers: ['begin'] } },
        ...{ stream_mode: ['values', 'updates'], stream_subgraphs: true },
      });
      const { interrupts } = await client.send('GET', path);
      await client.send('GET', `${path}/state?subgraphs=true`);
      await client.send('POST', '/threads/search', { ids: [id] });
      const command = { resume: resume(Object.values(interrupts ?? {}).flat() as { id: string }[]) };
      await client.send('POST', `${path}/runs/stream`, {
        ...{ assistant_id: graph, command, stream_mode: ['values', 'updates'], stream_subgraphs: true },
      });
      await client.send('GET', path);
      await client.send('POST', `${path}/history`, { limit: 20 });
    },
  };
}

const stops: Scenario = {
  name: 'interrupts before and after nodes',
  async run(client) {
    for (const more of [{}, { interrupt_before: '*' }, { interrupt_after: ['one'] }, { interrupt_before: ['one'] }]) {
      const { thread_id: id } = await client.send('POST', '/threads', {});
      for (const input of [{ answers: ['begin'] }, null])
        await client.send('POST', `/threads/${id}/runs/stream`, { assistant_id: 'stops', input, ...more });
      await client.send('GET', `/threads/${id}/state`);
      await client.send('GET', `/threads/${id}`);
    }
  },
};

const failures: Scenario = {
  name: 'errors of graphs',
  async run(client) {
    for (const kind of ['value', 'key', 'runtime', 'custom', 'timeout', 'update']) {
      const { thread_id: id } = await client.send('POST', '/threads', {});
      const body = { assistant_id: 'fails', input: { kind } };
      await client.send('POST', `/threads/${id}/runs/stream`, { ...body, stream_mode: ['values', 'tasks'] });
      await client.send('POST', `/threads/${id}/runs/wait`, body);
      for (const path of ['', '/state']) await client.send('GET', `/threads/${id}${path}`);
      await client.send('GET', `/threads/${id}/runs`);
    }
  },
};

const commands: Scenario = {
  name: 'commands',
  async run(client) {
    const { thread_id: id } = await client.send('POST', '/threads', {});
    const path = `/threads/${id}/runs/wait`;
    await client.send('POST', path, { assistant_id: 'nested', input: { log: ['a'] } });
    await client.send('POST', path, { assistant_id: 'nested', command: { update: { log: ['b'] }, goto: 'middle' } });
    await client.send('POST', path, {
      assistant_id: 'nested',
      command: { goto: { node: 'middle', input: { log: ['c'] } } },
    });
    await client.send('GET', `/threads/${id}/state`);
    await client.send('POST', path, { assistant_id: 'nested', command: { resume: 'nobody asked' } });
  },
};

export const SCENARIOS: readonly Scenario[] = [
  ofGraph('chat', { input: HELLO }),
  ofGraph('tools', { input: HELLO }),
  ofGraph('nested', { input: { log: ['begin'] }, stream_subgraphs: true }),
  ofGraph('fans_out', { input: { items: [1, 2, 3] } }, { modes: ['values', 'tasks'] }),
  ofGraph('jumps', { input: { log: [] }, stream_subgraphs: true }, { modes: ['values', 'updates', 'tasks'] }),
  ofGraph('functional', { input: [1, 2] }, { modes: ['values', 'updates', 'custom', 'tasks'] }),
  ofGraph('by_config', { input: {}, config: { configurable: { mood: 'fine' } } }, { modes: ['values'] }),
  ofGraph('by_runtime', { input: {} }, { modes: ['values'] }),
  ofGraph('opened', { input: {} }, { modes: ['values'] }),
  ofGraph('with_context', { input: {}, context: { mood: 'new', unknown: 1 } }, { modes: ['values'] }),
  ofGraph('remembers', { input: { text: 'note' } }, { modes: ['values'] }),
  ofGraph('speaks', { input: {} }, { modes: ['custom', 'values'] }),
  ofGraph('values', { input: {} }, { modes: ['values', 'updates'] }),
  {
    ...ofGraph(
      'research',
      { input: { messages: [{ role: 'user', content: 'rain', id: 'question' }] }, stream_subgraphs: true },
      { modes: ['values', 'updates', 'messages', 'messages-tuple', 'tasks'] },
    ),
    project: 'python-workspace',
  },
  server,
  descriptions,
  assistants,
  threads,
  runs,
  crons,
  store,
  ofInterrupt('asks', () => 'yes'),
  ofInterrupt('asks_inside', () => ({ fine: true })),
  ofInterrupt('asks_twice', (interrupts) => Object.fromEntries(interrupts.map(({ id }, index) => [id, index]))),
  stops,
  failures,
  commands,
];

/** Names of the scenarios that `npm test` compares, by answers that were written down. */
export const RECORDED: readonly string[] = [
  'graph chat',
  'graph jumps',
  'graph functional',
  'graph values',
  'graph research',
  'what the server is',
  'interrupts of asks_twice',
  'interrupts before and after nodes',
];
