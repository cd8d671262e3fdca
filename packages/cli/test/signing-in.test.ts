import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { folderWith, projectFolder, removeFolders, runyard } from './support/command.ts';
import { API_KEY, FakeControlPlaneApi } from './support/control-plane.ts';

let platform: FakeControlPlaneApi;
beforeEach(async () => {
  platform = await new FakeControlPlaneApi().open();
});
afterEach(async () => {
  await platform.close();
});
afterAll(removeFolders);

const list = ['deploy', 'list'];
const keyAsked = () => platform.asked.at(-1)?.headers['x-api-key'];

describe('wrong use', () => {
  it.each([
    ['deploy', '--name', ''],
    ['deploy', '--deployment-id', ''],
    ['deploy', '--image', ' '],
    ['deploy', 'logs', '--revision-id', ''],
    ['deploy', 'delete', ''],
    ['deploy', 'revisions', 'list', ''],
  ])('includes an argument that a script left empty: %s %s %s', async (...args) => {
    expect(await runyard(args)).toMatchObject({ exitCode: 2, err: expect.stringContaining('It is empty.') });
  });

  it('is reported to programs too', async () => {
    const ended = await runyard(['deploy', 'list', '--json', '--limit', '3']);
    expect(ended.exitCode).toBe(2);
    expect(ended.events()).toEqual([{ event: 'error', message: "unknown option '--limit'", exit_code: 2 }]);
  });
});

describe('the API key and the address', () => {
  it('are found by name, each first in .env and then in the environment', async () => {
    const cwd = folderWith('agent', { '.env': 'LANGSMITH_API_KEY=file\nLANGCHAIN_API_KEY=file-chain\n' });
    const env: Record<string, string> = { RUNYARD_URL: platform.url, LANGSMITH_API_KEY: 'process' };
    await runyard(list, { cwd, env });
    expect(keyAsked()).toBe('file');
    await runyard(list, { cwd, env: { ...env, LANGGRAPH_HOST_API_KEY: 'host' } });
    expect(keyAsked()).toBe('host');
    await runyard(list, { cwd, env: { ...env, LANGGRAPH_HOST_API_KEY: 'host', RUNYARD_API_KEY: 'ours' } });
    expect(keyAsked()).toBe('ours');
    await runyard([...list, '--api-key', 'flag'], { cwd, env: { ...env, RUNYARD_API_KEY: 'ours' } });
    expect(keyAsked()).toBe('flag');
  });

  it('may come from the map or the file that langgraph.json names', async () => {
    const config = (env: unknown) => JSON.stringify({ graphs: { agent: './a.ts:g' }, env });
    const cwd = folderWith('agent', {
      'langgraph.json': config({ RUNYARD_API_KEY: 'map', RUNYARD_URL: platform.url }),
      '.env': 'RUNYARD_API_KEY=other',
    });
    await runyard(list, { cwd });
    expect(keyAsked()).toBe('map');
    const file = folderWith('agent', {
      'langgraph.json': config('prod.env'),
      'prod.env': 'LANGGRAPH_HOST_API_KEY=file',
    });
    await runyard(list, { cwd: file, env: { LANGGRAPH_HOST_URL: `${platform.url}/` } });
    expect(keyAsked()).toBe('file');
  });

  it('are those of the platform that dev runs for the folder, when nothing else is given', async () => {
    const ready = JSON.stringify({ url: platform.url, apiKey: API_KEY });
    const cwd = folderWith('agent', { '.runyard/ready.json': ready });
    // The key of another platform must not be sent to this one.
    expect(await runyard(list, { cwd, env: { LANGSMITH_API_KEY: 'elsewhere' } })).toMatchObject({ exitCode: 0 });
    expect(keyAsked()).toBe(API_KEY);
  });

  it('are never guessed', async () => {
    const env = { LANGSMITH_ENDPOINT: platform.url, LANGSMITH_API_KEY: API_KEY };
    expect(await runyard(list, { env })).toMatchObject({
      exitCode: 2,
      err: 'Where is the platform? Give its address with --host-url, or as RUNYARD_URL in the environment or in .env.\n',
    });
    expect(await runyard(list, { env: { RUNYARD_URL: platform.url } })).toMatchObject({
      exitCode: 3,
      err: expect.stringMatching(/^There is no API key for http.*RUNYARD_API_KEY/),
    });
    expect((await runyard(list, { env: { RUNYARD_URL: 'platform' } })).exitCode).toBe(2);
    expect(platform.asked).toEqual([]);
  });

  it('name the workspace, when one is given', async () => {
    const env = { RUNYARD_URL: platform.url, RUNYARD_API_KEY: API_KEY, LANGSMITH_TENANT_ID: 'w1' };
    await runyard(list, { env });
    expect(platform.asked.at(-1)?.headers['x-tenant-id']).toBe('w1');
  });
});

describe('a refusal', () => {
  const env = () => ({ RUNYARD_URL: platform.url, RUNYARD_API_KEY: API_KEY });
  const refuse = (status: number, detail: unknown) => platform.fail('GET', /deployments/, { status, body: { detail } });

  it.each([
    [401, 'Invalid API key', 3, 'The API key is not valid on this platform: Invalid API key'],
    [
      403,
      'Deployments are not enabled on this plan',
      3,
      'Deployments are not enabled for the organization of this API key: Deployments are not enabled on this plan',
    ],
    [403, 'Missing permission', 3, 'The API key may not do this: Missing permission'],
    [404, 'Deployment ID x not found.', 4, 'Deployment ID x not found.'],
    [
      422,
      [{ loc: ['query', 'limit'], msg: 'too large', type: 'le' }],
      1,
      'GET /v2/deployments was refused (422): query.limit: too large',
    ],
    [500, 'Internal Server Error', 1, 'GET /v2/deployments was refused (500): Internal Server Error'],
  ])('of %d %j becomes a sentence and an exit code', async (status, detail, exitCode, sentence) => {
    refuse(status, detail);
    expect(await runyard(list, { env: env() })).toMatchObject({ exitCode, out: '', err: `${sentence}\n` });
  });

  it('that asks for a workspace is answered by the user, and explained otherwise', async () => {
    const detail = 'This key of the whole organization requires workspace specification: send X-Tenant-Id';
    refuse(403, detail);
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    stdin.write('w2\n');
    expect((await runyard(list, { env: env(), stdin })).exitCode).toBe(0);
    expect(platform.asked.at(-1)?.headers['x-tenant-id']).toBe('w2');
    refuse(403, detail);
    expect(await runyard([...list, '--no-input'], { env: env(), stdin })).toMatchObject({
      exitCode: 3,
      err: expect.stringContaining('name a workspace with --tenant-id or LANGSMITH_TENANT_ID'),
    });
  });

  it('by a server that is no platform is reported as such', async () => {
    platform.fail('GET', /./, { status: 200, body: '<html>' });
    const page = await runyard(list, { env: env() });
    expect(page.exitCode).toBe(1);
  });
});

describe('wrong use', () => {
  it.each([
    [
      ['deploy', 'lst'],
      /there is no command 'lst' below deploy: list, logs, delete, halt, resume, halt-status, budgets, revisions/,
    ],
    [['deploy', '--deployment-type', 'huge'], /Allowed choices are dev, prod/],
    [['deploy', '--timeout', 'soon'], /It is a whole number from 1 to 86400/],
    [['deploy', 'logs', '--start-time', 'yesterday'], /It is a time such as/],
    [['deploy', 'logs', '--level', 'loud'], /It is one of debug, info/],
    [['deploy', '--tag', 'a b'], /It has letters, digits/],
    [['deply'], /Did you mean deploy/],
  ])('%j ends with 2 and a hint, and sends no request', async (args, hint) => {
    const ended = await runyard(args, {
      cwd: projectFolder('agent'),
      env: { RUNYARD_URL: platform.url, RUNYARD_API_KEY: API_KEY },
    });
    expect(ended).toMatchObject({ exitCode: 2, err: expect.stringMatching(hint) });
    expect(platform.asked).toEqual([]);
  });

  it.each([
    ['no langgraph.json', {}, /has no langgraph.json: run the command in the folder of a LangGraph project/],
    ['broken JSON', { 'langgraph.json': '{' }, /langgraph.json is not valid JSON/],
    ['no graphs', { 'langgraph.json': '{}' }, /names no graphs/],
  ])('a project with %s is refused before any request', async (_, files, sentence) => {
    const ended = await runyard(['deploy'], { cwd: folderWith('agent', files as Record<string, string>) });
    expect(ended).toMatchObject({ exitCode: 2, err: expect.stringMatching(sentence) });
  });

  it('an error is an event with --json', async () => {
    const ended = await runyard(['deploy', '--json'], { cwd: projectFolder('agent') });
    expect(ended.events()).toEqual([
      { event: 'error', message: expect.stringContaining('Where is the platform?'), exit_code: 2 },
    ]);
  });
});

describe('--help', () => {
  it.each([[['--help']], [['deploy', '--help']], [['deploy', 'logs', '--help']], [['dev', '--help']]])(
    '%j',
    async (args) => {
      const ended = await runyard(args);
      expect(ended).toMatchObject({ exitCode: 0, err: '' });
      expect(ended.out).toMatch(/^Usage: runyard/);
      // The help is plain text outside a terminal.
      expect(ended.out).not.toContain('\u001b');
    },
  );
});
