import { randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InterruptedError } from '../src/cli-error.ts';
import { parsePointInTime } from '../src/commands/options.ts';
import { folderWith, removeFolders, runyard } from './support/command.ts';
import { API_KEY, FakeControlPlaneApi, logEntry } from './support/control-plane.ts';

let platform: FakeControlPlaneApi;
beforeEach(async () => {
  platform = await new FakeControlPlaneApi().open();
});
afterEach(async () => {
  expect(platform.violations).toEqual([]);
  await platform.close();
});
afterAll(removeFolders);

const iso = (ms: number) => new Date(ms).toISOString();
const env = () => ({ RUNYARD_URL: platform.url, RUNYARD_API_KEY: API_KEY });

describe('deploy list', () => {
  it('shows every page of deployments, as a table or as JSON without their secrets', async () => {
    for (let count = 0; count < 101; count += 1) {
      platform.addDeployment(`agent-${count}`, { secrets: [{ name: 'A', value: 's3cret' }] });
    }
    const shown = await runyard(['deploy', 'list', '--name-contains', 'agent'], { env: env() });
    expect(shown.exitCode).toBe(0);
    expect(shown.out.trim().split('\n')).toHaveLength(103);
    expect(shown.out).toMatch(/^ID {36}NAME {7}TYPE {2}STATUS {2}URL\n/);
    const asJson = await runyard(['deploy', 'list', '--json'], { env: env() });
    expect(asJson.events()).toHaveLength(101);
    expect(asJson.events()[0]).toMatchObject({ name: 'agent-0' });
    expect(asJson.out).not.toContain('s3cret');
  });

  it('says when there are none', async () => {
    expect(await runyard(['deploy', 'list'], { env: env() })).toMatchObject({
      exitCode: 0,
      out: 'There are no deployments.\n',
    });
  });
});

describe('deploy revisions list', () => {
  it('shows which revision serves, which were replaced, and why one failed', async () => {
    const deployment = platform.addDeployment('agent');
    platform.addRevision(deployment, 'DEPLOYED');
    const active = platform.addRevision(deployment, 'DEPLOYED');
    deployment.active_revision_id = active.id;
    const failed = platform.addRevision(deployment, 'BUILD_FAILED');
    failed.status_message = 'npm ci ended with 1\nmore';
    const ended = await runyard(['deploy', 'revisions', 'list', deployment.id, '--limit', '3'], { env: env() });
    expect(
      ended.out
        .split('\n')
        .slice(2, 5)
        .map((line) => line.split(/ {2,}/).slice(1, 2)[0]),
    ).toEqual(['BUILD_FAILED', 'DEPLOYED', 'REPLACED']);
    expect(ended.out).toMatch(/npm ci ended with 1\n/);
  });
});

describe('deploy delete', () => {
  const terminal = (answer: string) => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    stdin.write(`${answer}\n`);
    return stdin;
  };

  it('deletes the deployment whose name the user entered', async () => {
    const deployment = platform.addDeployment('agent');
    const refused = await runyard(['deploy', 'delete', deployment.id], { env: env(), stdin: terminal('y') });
    expect(refused).toMatchObject({ exitCode: 1, err: expect.stringContaining('Nothing is deleted') });
    expect(platform.deployments.size).toBe(1);
    const done = await runyard(['deploy', 'delete', deployment.id], { env: env(), stdin: terminal('agent') });
    expect(done).toMatchObject({ exitCode: 0, out: `agent (${deployment.id}) is deleted.\n` });
    expect(platform.deployments.size).toBe(0);
  });

  it('does not ask with --force', async () => {
    const { id } = platform.addDeployment('agent');
    expect((await runyard(['deploy', 'delete', id, '--force'], { env: env() })).exitCode).toBe(0);
  });

  it.each<[string, string[], PassThrough]>([
    ['there is nobody to ask', [], new PassThrough()],
    ['nobody wants to be asked', ['--no-input'], terminal('agent')],
  ])('deletes nothing where %s', async (_, flags, stdin) => {
    const { id } = platform.addDeployment('agent');
    const ended = await runyard(['deploy', 'delete', id, ...flags], { env: env(), stdin });
    expect(ended).toMatchObject({ exitCode: 2, err: 'There is nobody to ask: add --force to delete it.\n' });
    expect(platform.deployments.size).toBe(1);
  });
});

describe('deploy halt', () => {
  it('halts what is named, shows what is not yet reached, and resumes', async () => {
    const { id } = platform.addDeployment('agent');
    const halted = await runyard(['deploy', 'halt', id, '--reason', 'It leaks', '--queued', 'cancel'], { env: env() });
    expect(halted.exitCode).toBe(0);
    expect(halted.out).toContain('Halted (workspace; waiting runs: keep): ');
    expect(halted.out).toContain('Deployments reached: 1 of 2');
    expect(halted.out).toContain('Not reached: hello-agent (');
    expect(platform.requestsTo('POST', /\/halt$/)[0]).toMatchObject({
      path: `/v2/deployments/${id}/halt`,
      body: { reason: 'It leaks', queued: 'cancel' },
    });
    const resumed = await runyard(['deploy', 'resume', '--workspace', '--json'], { env: env() });
    expect(resumed.events()).toMatchObject([{ deployments: 2, reached: 1 }]);
    expect((await runyard(['deploy', 'halt-status', '--organization'], { env: env() })).exitCode).toBe(0);
    const paths = platform.asked.map(({ method, path }) => `${method} ${path}`);
    expect(paths).toContain('POST /v2/workspaces/current/resume');
    expect(paths).toContain('GET /v2/organizations/current/halt');
  });

  it('stops nothing unless exactly one thing is named', async () => {
    for (const named of [[], ['an-id', '--workspace'], ['--workspace', '--organization']]) {
      expect((await runyard(['deploy', 'halt', ...named, '--reason', 'x'], { env: env() })).exitCode).toBe(2);
    }
    expect(platform.asked).toEqual([]);
  });
});

describe('deploy budgets', () => {
  const budgets = (...words: string[]) => runyard(['deploy', 'budgets', ...words], { env: env() });
  const budgetId = randomUUID();

  it('makes, changes, lists and removes those of a deployment or of the workspace', async () => {
    const { id } = platform.addDeployment('agent');
    const terms = [
      '--name',
      'Users',
      '--per',
      'creator',
      '--period',
      'day',
      '--tokens',
      '100000',
      '--refuse-with',
      '402',
    ];
    const made = await budgets('add', '--deployment-id', id, ...terms);
    expect(made).toMatchObject({
      exitCode: 0,
      out: expect.stringMatching(/ is made: 100,000 tokens a day, each creator\.\n$/),
    });
    expect(platform.requestsTo('POST', /\/budgets$/)[0]).toMatchObject({
      path: `/v2/deployments/${id}/budgets`,
      body: {
        name: 'Users',
        subject: 'creator',
        period: 'day',
        tokens_max: 100_000,
        mode: 'enforced',
        refusal_status: 402,
      },
    });
    await budgets(
      'add',
      '--workspace',
      '--name',
      'Team',
      '--per',
      'workspace',
      '--period',
      'month',
      '--runs',
      '5',
      '--shadow',
    );
    expect(platform.requestsTo('POST', /\/budgets$/)[1]).toMatchObject({
      path: '/v2/workspaces/current/budgets',
      body: { subject: 'workspace', runs_max: 5, mode: 'shadow' },
    });
    expect((await budgets('change', budgetId, '--workspace', '--tokens', 'none', '--runs', '7')).exitCode).toBe(0);
    expect(platform.requestsTo('PATCH', /\/budgets\//)[0]).toMatchObject({
      path: `/v2/workspaces/current/budgets/${budgetId}`,
      body: { tokens_max: null, runs_max: 7 },
    });
    const listed = await budgets('list', '--deployment-id', id);
    expect(listed.out).toMatch(/each creator +100,000 tokens a day +enforced +429 +yes\n/);
    expect((await budgets('list', '--workspace', '--json')).events()).toMatchObject([{ subject: 'workspace' }]);
    expect(await budgets('remove', budgetId, '--deployment-id', id)).toMatchObject({ exitCode: 0 });
    expect(platform.requestsTo('DELETE', /\/budgets\//)).toHaveLength(1);
  });

  it.each([
    ['no deployment and no workspace', ['list']],
    ['both', ['list', '--workspace', '--deployment-id', 'x']],
    ['no cap', ['add', '--workspace', '--name', 'x', '--per', 'key', '--period', 'day']],
    ['half a token', ['add', '--workspace', '--name', 'x', '--per', 'key', '--period', 'day', '--tokens', '0.5']],
    ['nothing to change', ['change', budgetId, '--workspace']],
    ['an id that is none', ['remove', 'x', '--workspace']],
  ])('asks nothing of the platform with %s', async (_, words) => {
    expect((await budgets(...words)).exitCode).toBe(2);
    expect(platform.asked).toEqual([]);
  });
});

describe('deploy logs', () => {
  it('shows the newest, oldest first, of the deployment of the folder', async () => {
    platform.addDeployment('agent');
    platform.logs.deploy.push(logEntry(1), logEntry(2, { level: 'ERROR' }), logEntry(3));
    const ended = await runyard(['deploy', 'logs', '--limit', '2'], { env: env(), cwd: folderWith('agent', {}) });
    expect(ended).toMatchObject({
      exitCode: 0,
      out: '1970-01-01 00:00:00.002 ERROR   agent-api  line 2\n1970-01-01 00:00:00.003 INFO    agent-api  line 3\n',
    });
  });

  it.each([
    ['after what there is', [], 'To go on with what comes, add --follow (-f).\n'],
    [
      'where there is nothing yet',
      ['--name', 'silent'],
      'There is nothing. To go on with what comes, add --follow (-f).\n',
    ],
    ['not of a time that has an end', ['--end-time', '2026-11-21'], ''],
    ['not to programs', ['--json'], ''],
  ])('ends with a hint how to follow: %s', async (_, args, err) => {
    platform.addDeployment('agent');
    if (args.includes('silent')) platform.addDeployment('silent');
    else platform.logs.deploy.push(logEntry(1));
    const ended = await runyard(['deploy', 'logs', '--name', 'agent', ...args], { env: env() });
    expect(ended).toMatchObject({ exitCode: 0, err });
  });

  it('passes its filters on', async () => {
    const { id } = platform.addDeployment('agent');
    const revision = randomUUID();
    const args = ['--deployment-id', id, '--revision-id', revision, '--level', 'error', '-q', 'timeout'];
    const times = ['--start-time', '2026-11-20T12:00:00+01:00', '--end-time', '2026-11-21'];
    await runyard(['deploy', 'logs', ...args, ...times], { env: env() });
    const [asked] = platform.requestsTo('POST', /_logs/);
    expect(asked?.path).toBe(`/v1/projects/${id}/revisions/${revision}/deploy_logs`);
    expect(asked?.body).toEqual({
      order: 'desc',
      limit: 100,
      level: 'ERROR',
      query: 'timeout',
      start_time: '2026-11-20T11:00:00.000Z',
      end_time: '2026-11-21T00:00:00.000Z',
    });
  });

  it.each([
    ['2026-11-20 12:00:00.542', '2026-11-20T12:00:00.542Z'],
    ['2026-11-20T12:00', '2026-11-20T12:00:00.000Z'],
    ['2026-11-20T12:00:00+0530', '2026-11-20T06:30:00.000Z'],
    ['2026-11-20 12:00 -05', '2026-11-20T17:00:00.000Z'],
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
  ])('accepts a time as it shows them, in UTC: %s', async (text, time) => {
    const { TZ } = process.env;
    process.env.TZ = 'Asia/Tokyo';
    try {
      expect(parsePointInTime(text)).toBe(time);
    } finally {
      if (TZ === undefined) delete process.env.TZ;
      else process.env.TZ = TZ;
    }
  });

  it.each(['soon', '12:00', '2026-13-01', '2026-11-20 25:00'])('refuses an invalid time: %s', async (text) => {
    const ended = await runyard(['deploy', 'logs', '--start-time', text], { env: env() });
    expect(ended).toMatchObject({ exitCode: 2, err: expect.stringContaining('It is a time such as') });
  });

  it('shows the build of the newest revision with --type build', async () => {
    const deployment = platform.addDeployment('agent');
    await runyard(['deploy', 'logs', '--name', 'agent', '--type', 'build'], { env: env() });
    expect(platform.requestsTo('POST', /_logs/)[0]?.path).toBe(
      `/v1/projects/${deployment.id}/revisions/${deployment.latest_revision_id}/build_logs`,
    );
  });

  it('shows as many entries as requested, however few a page of them has', async () => {
    const { id } = platform.addDeployment('agent');
    for (let count = 1; count <= 4; count += 1) platform.logs.deploy.push(logEntry(count));
    const logs = [logEntry(9)];
    platform.fail('POST', /_logs/, { status: 200, body: { logs, next_offset: '4' } });
    const ended = await runyard(['deploy', 'logs', '--json', '--limit', '3', '--deployment-id', id], { env: env() });
    expect(ended.events().map(({ id: each }) => each)).toEqual(['3', '4', '9']);
  });

  it('follows what a filter matches from now on, and waits for an unavailable platform', async () => {
    const { id } = platform.addDeployment('agent');
    platform.logs.deploy.push(logEntry(1), logEntry(2));
    const controller = new AbortController();
    const following = runyard(['deploy', 'logs', '-f', '--level', 'error', '--json', '--deployment-id', id], {
      env: env(),
      interrupted: controller.signal,
    });
    await platform.asks(3, /_logs/);
    expect(platform.requestsTo('POST', /_logs/)[2]?.body).toMatchObject({ order: 'asc', start_time: iso(2) });
    for (let tries = 0; tries < 4; tries += 1) {
      platform.fail('POST', /_logs/, { status: 503, body: { detail: 'away' }, headers: { 'retry-after': '0.001' } });
    }
    platform.logs.deploy.push(logEntry(3, { level: 'ERROR' }));
    await platform.asks(10, /_logs/);
    controller.abort(new InterruptedError('SIGINT'));
    const ended = await following;
    expect(ended).toMatchObject({ exitCode: 0, err: 'The platform is unavailable: waiting for it.\n' });
    expect(ended.events().map(({ id: each }) => each)).toEqual(['3']);
  });

  it('follows with -f, each entry once, and ends cleanly when interrupted', async () => {
    const { id } = platform.addDeployment('agent');
    platform.logs.deploy.push(logEntry(1), logEntry(2));
    const controller = new AbortController();
    const following = runyard(['deploy', 'logs', '-f', '--json', '--deployment-id', id], {
      env: env(),
      interrupted: controller.signal,
    });
    await platform.asks(2, /_logs/);
    // The entry has the same millisecond as the last one that was shown.
    platform.logs.deploy.push(logEntry(3, { timestamp: 2 }), logEntry(4));
    // A request in flight may have been answered before; the next one is not, and has ended when another is made.
    await platform.asks(platform.requestsTo('POST', /_logs/).length + 3, /_logs/);
    controller.abort(new InterruptedError('SIGINT'));
    const ended = await following;
    expect(ended.exitCode).toBe(0);
    expect(ended.events().map(({ id: each }) => each)).toEqual(['1', '2', '3', '4']);
  });
});
