import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentServer } from '../src/agent-server/agent-server.ts';
import { parseExactly } from '../src/agent-server/exact-json.ts';
import { InterruptedError } from '../src/cli-error.ts';
import { Http } from '../src/connection/http.ts';
import { FakeAgentServer } from './support/agent-server.ts';
import { runyard } from './support/command.ts';

let source: FakeAgentServer;
let target: FakeAgentServer;
beforeEach(async () => {
  [source, target] = await Promise.all([new FakeAgentServer().open(), new FakeAgentServer().open()]);
});
afterEach(async () => {
  await Promise.all([source.close(), target.close()]);
});

const importAll = (...flags: string[]) =>
  runyard(['import', '--from', source.url, '--deployment', target.url, '--json', ...flags]);

describe('import', () => {
  it('copies threads with every state of their history, and a second run writes nothing', async () => {
    const id = source.addConversation('tea');
    const first = await importAll();
    expect(first).toMatchObject({ exitCode: 0 });
    expect(first.events().at(-1)).toMatchObject({
      event: 'result',
      status: 'succeeded',
      kinds: { threads: { found: 1, copied: 1 } },
    });
    expect(target.threads.get(id).metadata).toEqual({ graph_id: 'chat', about: 'tea' });
    expect(target.states.get(id)?.map(({ values }) => values)).toEqual(
      source.states.get(id)?.map(({ values }) => values),
    );
    target.writes.length = 0;
    const second = await importAll();
    expect(second.events().at(-1)).toMatchObject({ kinds: { threads: { found: 1, copied: 0, present: 1 } } });
    expect(target.writes).toEqual([]);
  });

  it('goes on after an interruption: nothing is there twice, nothing is missing', async () => {
    for (let number = 0; number < 25; number += 1) source.addConversation(`thread ${number}`);
    const interrupted = new AbortController();
    target.intercept = ({ method, path }) => {
      if (method === 'POST' && path === '/threads' && target.threads.size === 10) {
        interrupted.abort(new InterruptedError('SIGINT'));
      }
      return undefined;
    };
    const args = ['import', '--from', source.url, '--deployment', target.url, '--json', '--concurrency', '2'];
    expect(await runyard(args, { interrupted: interrupted.signal })).toMatchObject({ exitCode: 130 });
    expect(target.threads.size).toBeLessThan(25);
    const ended = await importAll();
    expect(ended.events().at(-1)).toMatchObject({ kinds: { threads: { found: 25, different: 0, failed: 0 } } });
    expect([...target.threads.keys()].sort()).toEqual([...source.threads.keys()].sort());
  });

  it('copies again what went on at the source, and never what the target has run', async () => {
    const [grown, run] = [source.addConversation('grows'), source.addConversation('is run')];
    await importAll();
    for (const id of [grown, run]) {
      source.addConversation('later', id);
      source.threads.get(id).metadata.about = target.threads.get(id).metadata.about;
      source.threads.get(id).updated_at = new Date(Date.now() + 60_000).toISOString();
    }
    target.threads.get(run).runs.push({});
    const again = await importAll();
    expect(again).toMatchObject({ exitCode: 1 });
    expect(again.events().at(-1)).toMatchObject({
      status: 'failed',
      kinds: { threads: { copied: 1, different: 1 } },
    });
    expect(target.stateOf(grown)?.values).toEqual(source.stateOf(grown)?.values);
    expect(target.states.get(run)).toHaveLength(6);
  });

  it('completes a thread that an earlier run left without its state', async () => {
    const id = source.addConversation('tea');
    target.addThread({ metadata: source.threads.get(id).metadata }, id);
    target.threads.get(id).updated_at = new Date(Date.now() + 60_000).toISOString();
    expect(await importAll()).toMatchObject({ exitCode: 0 });
    expect(target.stateOf(id)?.values).toEqual(source.stateOf(id)?.values);
  });

  it('writes the newest state alone where the target refuses the history, and says so', async () => {
    const id = source.addConversation('tea');
    target.intercept = ({ path, body }) =>
      path === '/threads' && body?.supersteps?.length > 1 ? { status: 413, body: { detail: 'too large' } } : undefined;
    const ended = await importAll();
    expect(ended).toMatchObject({ exitCode: 0 });
    expect(target.states.get(id)?.map(({ values }) => values)).toEqual([source.stateOf(id)?.values]);
    expect(ended.out).toContain('its newest state only, without its history');
  });

  it('fails when the target makes another state of it, and names where', async () => {
    source.addConversation('tea');
    target.intercept = ({ method, path }) =>
      method === 'GET' && path.endsWith('/state')
        ? { status: 200, body: { values: { log: [] }, next: [], tasks: [], checkpoint: { checkpoint_id: 'x' } } }
        : undefined;
    const ended = await importAll();
    expect(ended).toMatchObject({ exitCode: 1 });
    expect(ended.out).toContain('the target made another one of it, as values.messages shows');
  });

  it('leaves out busy threads and those of graphs that the target lacks', async () => {
    source.addThread({ status: 'busy', metadata: { graph_id: 'chat' } });
    source.addThread({ metadata: { graph_id: 'research' } });
    source.addThread({ metadata: { owner: 'ada' } });
    const ended = await importAll();
    expect(ended).toMatchObject({ exitCode: 0 });
    expect(ended.events().at(-1)).toMatchObject({ kinds: { threads: { found: 3, copied: 1, skipped: 2 } } });
    expect(ended.out).toContain('a run is in flight');
    expect(ended.out).toContain('the target has no graph research');
  });

  it('says when the threads of the source changed meanwhile', async () => {
    const id = source.addConversation('tea');
    target.intercept = ({ method, path }) => {
      if (method === 'POST' && path === '/threads') source.threads.get(id).updated_at = '2099-01-01T00:00:00Z';
      return undefined;
    };
    expect((await importAll('--only', 'threads')).out).toContain('The threads of the source changed meanwhile');
  });

  it('copies assistants with their versions and the one in use', async () => {
    const id = source.addAssistant({ graph_id: 'chat', name: 'Polite', config: { configurable: { tone: 'polite' } } });
    const [first] = source.assistants.get(id) ?? [];
    source.assistants.set(id, [first ?? {}, { ...first, name: 'Very polite', version: 2 }]);
    expect(await importAll()).toMatchObject({ exitCode: 0 });
    expect(target.assistants.get(id)?.map(({ name, version }) => [name, version])).toEqual([
      ['Polite', 1],
      ['Very polite', 2],
    ]);
    expect(target.latest.get(id)).toBe(1);
    expect((await importAll()).events().at(-1)).toMatchObject({ kinds: { assistants: { found: 1, present: 1 } } });
  });

  it('copies items of the store, and never writes over a newer value', async () => {
    source.putItem(['users', 'ada'], 'tea', { sugar: 1 });
    source.putItem(['users', 'bob'], 'tea', { sugar: 2 }, '2020-01-01T00:00:00Z');
    target.putItem(['users', 'bob'], 'tea', { sugar: 3 });
    const ended = await importAll();
    expect(ended).toMatchObject({ exitCode: 1 });
    expect(ended.events().at(-1)).toMatchObject({ kinds: { store: { found: 2, copied: 1, different: 1 } } });
    expect([...target.items.values()].map(({ value }) => value)).toEqual([{ sugar: 3 }, { sugar: 1 }]);
  });

  it('copies crons once and disabled, and switches them over when it is told to', async () => {
    const assistant_id = [...source.assistants.keys()][0];
    const payload = { assistant_id, input: { text: 'hi' }, config: { configurable: { cron_id: 'x', tone: 'polite' } } };
    const on = source.addCron({ assistant_id, schedule: '0 9 * * *', payload, metadata: { team: 'blue' } });
    const off = source.addCron({ assistant_id, schedule: '@daily', payload, enabled: false });
    const first = await importAll();
    expect(first).toMatchObject({ exitCode: 0 });
    expect(first.out).toContain('1 crons are disabled at the target');
    const copies = () => [...target.crons.values()].map(({ schedule, enabled }) => [schedule, enabled]);
    expect(copies()).toEqual([
      ['0 9 * * *', false],
      ['@daily', false],
    ]);
    expect(source.crons.get(on).enabled).toBe(true);
    expect(await importAll('--switch-crons')).toMatchObject({ exitCode: 0 });
    expect(copies()).toEqual([
      ['0 9 * * *', true],
      ['@daily', false],
    ]);
    expect([on, off].map((id) => source.crons.get(id).enabled)).toEqual([false, false]);
    expect([...target.crons.values()][0].payload.input).toEqual({ text: 'hi' });
  });

  it('says that a server has no crons, and copies the rest', async () => {
    source.addConversation('tea');
    source.intercept = ({ path }) =>
      path === '/runs/crons/search' ? { status: 500, body: { message: 'Not implemented' } } : undefined;
    const ended = await importAll();
    expect(ended).toMatchObject({ exitCode: 0, out: expect.stringContaining('One of the servers has no crons') });
    expect(target.threads.size).toBe(1);
  });

  it('writes nothing in a dry run', async () => {
    source.addConversation('tea');
    source.putItem(['a'], 'b', {});
    const ended = await importAll('--dry-run');
    expect(ended.events().at(-1)).toMatchObject({ dry_run: true, kinds: { threads: { copied: 1 } } });
    expect(target.writes).toEqual([]);
  });

  it('copies only the threads whose metadata match', async () => {
    const id = source.addConversation('tea');
    source.addConversation('coffee');
    await importAll('--metadata', '{"about":"tea"}');
    expect([...target.threads.keys()]).toEqual([id]);
  });

  it('shows a table and the reasons to people', async () => {
    source.addConversation('tea');
    source.addThread({ status: 'busy' });
    const { out } = await runyard(['import', '--from', source.url, '--deployment', target.url]);
    expect(out).toMatch(/^threads +2 +1 +0 +1 +0 +0$/m);
    expect(out).toMatch(/^threads skipped: 1, a run is in flight at the source/m);
  });

  it.each([
    [['--only', 'runs'], 'runs is none of'],
    [['--metadata', '[]'], 'It is a JSON object'],
    [['--from-header', 'nonsense'], 'It is `name: value`'],
  ])('refuses %j', async (flags, message) => {
    expect(await importAll(...flags)).toMatchObject({ exitCode: 2, err: expect.stringContaining(message) });
  });
});

/** Adds crons of the source's only graph. @returns the first one's request */
const cronOfChat = (fields: object = {}) => {
  const assistant_id = [...source.assistants.keys()][0];
  return { assistant_id, schedule: '0 9 * * *', payload: { assistant_id, input: { text: 'hi' } }, ...fields };
};
const DEEP = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;

describe('import from a source that is hostile or broken', () => {
  it('requests no path of the target that an id leads to', async () => {
    const hostile = '../../../api/v1/orgs/current/members?x=';
    const paths: string[] = [];
    target.intercept = ({ path }) => void paths.push(path);
    source.addAssistant({ graph_id: 'chat', name: 'Evil' }, hostile);
    source.addThread({ metadata: { graph_id: 'chat' } }, '../../../v2/deployments/prod?x=');
    source.addCron(cronOfChat({ thread_id: hostile }));
    source.addCron(cronOfChat({ assistant_id: hostile }));
    source.addCron(cronOfChat(), hostile);
    const ended = await importAll();
    expect(ended).toMatchObject({ exitCode: 1, out: expect.stringContaining('is not a UUID') });
    expect(ended.events().at(-1)).toMatchObject({
      kinds: { assistants: { failed: 1 }, threads: { failed: 1 }, crons: { failed: 3 } },
    });
    expect(paths.filter((path) => !path.endsWith('/search'))).toEqual([]);
  });

  it('sends nothing to a path that the URL parser makes another one of', async () => {
    const http = new Http({ env: {}, interrupted: new AbortController().signal });
    const server = new AgentServer({ http, url: target.url, headers: {} });
    await expect(server.call('DELETE', '/threads/../v2/deployments/prod')).rejects.toThrow('leads elsewhere');
    expect(target.writes).toEqual([]);
    await http.close();
  });

  it("passes on the fields of a cron's runs alone", async () => {
    source.addCron(cronOfChat({ payload: { input: 1, multitask_strategy: 'reject', next_run_date: 'now' } }));
    expect(await importAll()).toMatchObject({ exitCode: 0 });
    const [{ payload }] = target.crons.values();
    expect(payload).toMatchObject({ input: 1, multitask_strategy: 'reject' });
    expect(payload).not.toHaveProperty('next_run_date');
  });

  it('ends with a reason when the source answers the same states for ever', async () => {
    const id = source.addConversation('tea');
    source.addConversation('coffee');
    const state = { values: {}, next: [], tasks: [], metadata: null, checkpoint: { checkpoint_id: 'x' } };
    source.intercept = ({ path }) =>
      path === `/threads/${id}/history` ? { status: 200, body: [{ ...state, parent_checkpoint: null }] } : undefined;
    const ended = await importAll();
    expect(ended.out).toContain('answers the same states again');
    expect(ended.events().at(-1)).toMatchObject({ kinds: { threads: { copied: 1, failed: 1 } } });
  });

  it('ends with a reason when the source answers the same page for ever', async () => {
    const rows = [{ thread_id: source.addThread(), metadata: {}, status: 'idle', updated_at: '2026-01-01T00:00:00Z' }];
    source.intercept = ({ path }) => (path === '/threads/search' ? { status: 200, body: rows } : undefined);
    expect(await importAll()).toMatchObject({
      exitCode: 1,
      out: expect.stringContaining('answers the same page again'),
    });
  });

  it('counts one odd value as failed, and copies the rest', async () => {
    const [deep, plain] = [source.addConversation('deep'), source.addConversation('plain')];
    source.addCron(cronOfChat({ payload: undefined }));
    source.addCron(cronOfChat());
    source.putItem(['a'], 'b', { c: 1 });
    const state = `{"values":{"log":${DEEP}},"next":[],"tasks":[],"metadata":null,"checkpoint":{"checkpoint_id":"x"}}`;
    let page = 0;
    source.intercept = ({ path }) => {
      if (path === `/threads/${deep}/history`) return { status: 200, text: page++ === 0 ? `[${state}]` : '[]' };
      if (path === `/threads/${deep}/state`) return { status: 200, text: state };
      return undefined;
    };
    const ended = await importAll();
    expect(ended.events().at(-1)).toMatchObject({
      kinds: { threads: { copied: 1, failed: 1 }, store: { copied: 1 }, crons: { copied: 1, failed: 1 } },
    });
    expect([...target.threads.keys()]).toEqual([plain]);
  });

  it('refuses an answer that is too long before it fills the memory', async () => {
    source.addConversation('tea');
    const http = new Http({ env: {}, interrupted: new AbortController().signal });
    const url = `${source.url}/assistants/${[...source.assistants.keys()][0]}`;
    const asked = { method: 'GET' as const, url, headers: {}, isRepeatable: true };
    await expect(http.send({ ...asked, maxBytes: 10 })).rejects.toThrow('was answered with more than 10 bytes');
    expect(await http.send({ ...asked, maxBytes: 10_000 })).toMatchObject({ status: 200 });
    await http.close();
  });
});

describe('crons', () => {
  const enabled = (server: FakeAgentServer) => [...server.crons.values()].map((cron) => cron.enabled);

  it('are not copied between two names of one server', async () => {
    source.addCron(cronOfChat());
    const url = source.url.replace('127.0.0.1', 'localhost');
    const ended = await runyard(['import', '--from', source.url, '--deployment', url, '--only', 'crons']);
    expect(ended).toMatchObject({ exitCode: 1, err: expect.stringContaining('lead to the same server') });
    expect(source.crons.size).toBe(1);
  });

  it('are taken back from a target that enables them at once', async () => {
    source.addCron(cronOfChat());
    target.intercept = ({ method, path, body }) => {
      if (method !== 'POST' || path !== '/runs/crons') return undefined;
      return { status: 200, body: target.crons.get(target.addCron({ ...body, enabled: true })) };
    };
    const ended = await importAll();
    expect(ended).toMatchObject({ exitCode: 1, out: expect.stringContaining('the target enables crons at once') });
    expect(target.crons.size).toBe(0);
  });

  it('that their owner disabled after the switch stay disabled', async () => {
    source.addCron(cronOfChat());
    await importAll('--switch-crons');
    expect(enabled(target)).toEqual([true]);
    [...target.crons.values()][0].enabled = false;
    expect(await importAll('--switch-crons')).toMatchObject({ exitCode: 0 });
    expect(enabled(target)).toEqual([false]);
  });

  it('follow what the source has enabled at the time of the switch', async () => {
    const [off, on] = [source.addCron(cronOfChat()), source.addCron(cronOfChat({ enabled: false }))];
    await importAll();
    source.crons.get(off).enabled = false;
    source.crons.get(on).enabled = true;
    await importAll('--switch-crons');
    expect(enabled(target)).toEqual([false, true]);
    expect(enabled(source)).toEqual([false, false]);
  });

  it('are enabled by the next run when one ended between the two requests', async () => {
    source.addCron(cronOfChat());
    await importAll();
    target.intercept = ({ method }) => (method === 'PATCH' ? { status: 400, body: { detail: 'no' } } : undefined);
    expect(await importAll('--switch-crons')).toMatchObject({ exitCode: 1 });
    expect([enabled(source), enabled(target)]).toEqual([[false], [false]]);
    target.intercept = () => undefined;
    expect(await importAll('--switch-crons')).toMatchObject({ exitCode: 0 });
    expect(enabled(target)).toEqual([true]);
  });
});

describe('a thread that is written again', () => {
  let id: string;
  beforeEach(async () => {
    id = source.addConversation('tea');
    await importAll();
    source.addConversation('later', id);
    source.threads.get(id).updated_at = new Date(Date.now() + 60_000).toISOString();
  });

  it('stays as it was while its source cannot be read', async () => {
    source.intercept = ({ path }) =>
      path.endsWith('/history') ? { status: 400, body: { detail: 'broken' } } : undefined;
    expect(await importAll()).toMatchObject({ exitCode: 1 });
    expect(target.states.get(id)).toHaveLength(6);
  });

  it('has its earlier state again when the target refuses the new one', async () => {
    const earlier = target.stateOf(id)?.values;
    target.intercept = ({ method, path, body }) =>
      method === 'POST' && path === '/threads' && JSON.stringify(body).includes('later')
        ? { status: 400, body: { detail: 'no' } }
        : undefined;
    const ended = await importAll();
    expect(ended).toMatchObject({ exitCode: 1, out: expect.stringContaining('its earlier state is there again') });
    expect(target.stateOf(id)?.values).toEqual(earlier);
  });

  it('is reported as gone when neither state can be written', async () => {
    target.intercept = ({ method, path }) =>
      method === 'POST' && path === '/threads' ? { status: 400, body: { detail: 'no' } } : undefined;
    const ended = await importAll();
    expect(ended).toMatchObject({ exitCode: 1, out: expect.stringContaining('its earlier copy is gone there') });
  });
});

describe('export', () => {
  it('copies from the deployment to the other server', async () => {
    const id = source.addConversation('tea');
    const ended = await runyard(['export', '--to', target.url, '--deployment', source.url, '--json']);
    expect(ended).toMatchObject({ exitCode: 0 });
    expect(target.stateOf(id)?.values).toEqual(source.stateOf(id)?.values);
  });

  it('exports again what was imported, with its history', async () => {
    const id = source.addConversation('tea');
    await importAll();
    const third = await new FakeAgentServer().open();
    await runyard(['export', '--to', third.url, '--deployment', target.url]);
    expect(third.states.get(id)?.map(({ values }) => values)).toEqual(
      source.states.get(id)?.map(({ values }) => values),
    );
    await third.close();
  });
});

describe('parsing an answer', () => {
  it('refuses a whole number that a double cannot hold, and only that', () => {
    expect(() => parseExactly('{"n":9007199254740993}', 'GET /x')).toThrow('has the number 9007199254740993');
    const fine = '{"a":"9007199254740993","b":0.12345678901234567,"c":9007199254740992,"d":"\\"9007199254740993"}';
    expect(parseExactly(fine, 'GET /x')).toMatchObject({ c: 9007199254740992 });
  });
});
