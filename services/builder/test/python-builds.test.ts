import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { UserRange } from '@runyard/deployments';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PROJECT_USERS, TestBuilds, type TestOrder } from './support/test-builds.ts';

/** Its builds share one cache of packages, which is closed to the user of another deployment. */
const id = randomUUID();
let builds: TestBuilds;
beforeAll(async () => {
  builds = await TestBuilds.start();
  const other = join(builds.dataDir, 'build-caches', 'other');
  await mkdir(other, { recursive: true, mode: 0o700 });
  await writeFile(join(other, 'file'), 'of another deployment');
});
afterAll(() => builds.close());

const config = (more: object = {}) =>
  JSON.stringify({ dependencies: ['.'], graphs: { agent: './src/agent/graph.py:graph' }, ...more });
const GRAPH = `
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

class State(TypedDict):
    text: str

graph = StateGraph(State).add_node("say", lambda state: {"text": "hello"}).add_edge(START, "say").compile()
`;
const PYPROJECT = `
[project]
name = "agent"
version = "1"
dependencies = ["langgraph==1.2.24"]

[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[tool.setuptools]
packages = ["agent", "public.agent"]

[tool.setuptools.package-dir]
"agent" = "src/agent"
"public.agent" = "src/agent"
`;
const NETRC = 'machine pypi.example.com login ada password of-the-index';

/** Notes what code of a package can see while it is installed. */
const SETUP = `
import json, os, setuptools
def read(path):
    try:
        return open(path).read()
    except OSError as error:
        return type(error).__name__
with open("seen.json", "w") as file:
    json.dump({"env": dict(os.environ), "uid": os.getuid(), "parent": read("/proc/%d/environ" % os.getppid()),
               "netrc": read(os.path.expanduser("~/.netrc")),
               "service": read("/proc/${process.pid}/environ"), "data": read(os.path.expanduser("~/../../build-caches/other/file"))}, file)
setuptools.setup()
`;
const PROJECT = {
  'langgraph.json': config(),
  'pyproject.toml': PYPROJECT,
  'setup.py': SETUP,
  'src/agent/__init__.py': '',
  'src/agent/graph.py': `import public.agent\nfrom agent.greeting import GREETING\n${GRAPH}`,
  'src/agent/greeting.py': 'GREETING = "hello"',
};

const build = (order: TestOrder) => builds.build({ id, installCommand: null, ...order });

it('a Python project is installed into an environment of its own, which is valid in other places too', async () => {
  const variables = { MODEL_KEY: 'model-key-value', UV_INDEX_OURS_PASSWORD: 'index-password', NETRC };
  const { end, lines } = await build({ files: PROJECT, variables });
  expect(end).toEqual({ kind: 'archive' });
  expect(lines).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^Python 3\.1\d, and uv installs$/),
      '$ uv pip install -c "$HOME/constraints.txt" -e .',
      'Built with the graph agent',
    ]),
  );
  // It uses what the official image has, and names only what it needs itself.
  expect(lines.join('\n')).toMatch(/\+ langgraph==1\.2\.24[\s\S]*\+ uvicorn==/);
  expect(lines.join('\n')).not.toContain(builds.dataDir);
  const folder = await builds.unpack(id);
  const code = 'import agent.greeting, public.agent, uvicorn; print(agent.greeting.__file__, public.agent.__file__)';
  const { stdout } = await promisify(execFile)(join(folder, '.venv/bin/python'), ['-c', code]);
  expect(stdout.trim()).toBe(`${join(folder, 'src/agent/greeting.py')} ${join(folder, 'src/agent/__init__.py')}`);
  expect((await promisify(execFile)(join(folder, '.venv/bin/uvicorn'), ['--version'])).stdout).toContain('uvicorn');
});

it.runIf(PROJECT_USERS !== undefined)(
  'what a package runs when it is installed has the user of the build and none of its secrets',
  async () => {
    const text = await readFile(join(await builds.unpack(id), 'seen.json'), 'utf8');
    expect(JSON.parse(text)).toMatchObject({
      uid: new UserRange(PROJECT_USERS!).buildUserOf(id).uid,
      env: { UV_INDEX_OURS_PASSWORD: 'index-password' },
      netrc: `${NETRC}\n`,
      service: 'PermissionError',
      data: 'PermissionError',
    });
    expect(text).not.toContain('model-key-value');
    // The next build cannot change the tools that it gets.
    const tools = join(builds.dataDir, 'build-tools', id, 'tools');
    expect((await stat(join(tools, (await readdir(tools))[0]!, 'bin/uv'))).uid).toBe(0);
  },
);

it('a locked project gets what uv.lock has, in a workspace too, and is refused when the lock is stale', async () => {
  const source = { kind: 'uv', root: '..', package: 'agent' };
  const workspace = '[tool.uv]\nconstraint-dependencies = ["langgraph==1.2.20"]\nworkspace.members = ["agent"]\n';
  const files = {
    'pyproject.toml': workspace,
    'agent/pyproject.toml': PYPROJECT.replace('==1.2.24', '>=1.2'),
    'agent/langgraph.json': config({ dependencies: undefined, source }),
    'agent/src/agent/__init__.py': '',
    'agent/src/agent/greeting.py': PROJECT['src/agent/greeting.py'],
    'agent/src/agent/graph.py': PROJECT['src/agent/graph.py'],
  };
  const lock = await lockOf(files);
  const configPath = 'agent/langgraph.json';
  const { end, lines } = await build({ files: { ...files, 'uv.lock': lock }, configPath });
  expect(end).toEqual({ kind: 'archive' });
  expect(lines).toContain(' + langgraph==1.2.20');
  const stale = {
    ...files,
    'uv.lock': lock,
    'agent/pyproject.toml': PYPROJECT.replace('langgraph==1.2.24', 'structlog'),
  };
  const { reason } = await build({ files: stale, configPath });
  expect(reason).toMatch(/could not be installed: `uv sync --locked[\s\S]*lockfile[\s\S]*needs to be updated/);
});

/** Makes the lock file of a project with the uv of its deployment. */
async function lockOf(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(builds.dataDir, 'locked-'));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  const tools = join(builds.dataDir, 'build-tools', id, 'tools');
  const [release] = await readdir(tools);
  await promisify(execFile)(join(tools, release!, 'bin/uv'), ['lock'], { cwd: folder });
  return readFile(join(folder, 'uv.lock'), 'utf8');
}

const ONE_FILE = { 'langgraph.json': config({ graphs: { agent: './agent.py:graph' } }), 'agent.py': GRAPH };

/** A package with the name of LangGraph, and nothing to fetch. */
const OLD = '[project]\nname = "langgraph"\nversion = "0.4.10"\n[tool.setuptools]\npy-modules = []\n';

it.each<[string, TestOrder, RegExp]>([
  [
    'a package that does not exist',
    { files: { ...ONE_FILE, 'langgraph.json': config({ dependencies: ['no-such-package-of-runyard'] }) } },
    /^The packages could not be installed: `uv pip install .* no-such-package-of-runyard` ended with code 1\.[\s\S]*not found/,
  ],
  [
    'a repository that is not reached',
    {
      files: { ...ONE_FILE, 'langgraph.json': config({ dependencies: ['thing @ git+http://127.0.0.1:9/thing.git'] }) },
    },
    /^The packages could not be installed: .*`[\s\S]*Git operation failed/,
  ],
  [
    'a Python that is not there',
    { files: { ...ONE_FILE, 'langgraph.json': config({ python_version: '3.99' }) } },
    /^Python 3\.99 is not on this machine; it has 3\.1.* \(RUNYARD_PYTHONS\)/,
  ],
  [
    'a dependency outside of the source',
    { files: { ...ONE_FILE, 'langgraph.json': config({ dependencies: ['../../..'] }) } },
    /^"dependencies" names \.\.\/\.\.\/\.\., which leads out of the source/,
  ],
  [
    'an option in place of a dependency',
    { files: { ...ONE_FILE, 'langgraph.json': config({ dependencies: ['--index-url=http://127.0.0.1:9'] }) } },
    /which is an option and no requirement/,
  ],
  [
    'a password in a dependency',
    { files: { ...ONE_FILE, 'langgraph.json': config({ dependencies: ['a @ git+https://me:geheim@127.0.0.1/a'] }) } },
    /^(?![\s\S]*geheim)"dependencies" has a password/,
  ],
  [
    'no lock file',
    { files: { ...ONE_FILE, 'langgraph.json': config({ dependencies: undefined, source: { kind: 'uv' } }) } },
    /^"source" needs pyproject\.toml, which does not exist/,
  ],
  [
    'a LangGraph that is too old',
    { files: { ...ONE_FILE, 'langgraph.json': config({ dependencies: ['./old'] }), 'old/pyproject.toml': OLD } },
    /^The project's langgraph is 0\.4\.10; 0\.6\.0 or newer is needed/,
  ],
])('a build with %s fails and says so', async (_, order, reason) => {
  const failed = await build(order);
  expect(failed.reason).toMatch(reason);
  expect(`${failed.reason}\n${failed.lines.join('\n')}`).not.toContain(builds.dataDir);
});
