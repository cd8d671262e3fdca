import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { fetchUv } from '@runyard/package-managers';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';

const run = promisify(execFile);
const pathOf = async (program: string) => (await run('/bin/sh', ['-c', `command -v ${program}`])).stdout.trim();

/** The program that images of projects run while they are built. */
const PROGRAM = join(import.meta.dirname, '../src/image/main.ts');

/** uv, where the base image has it. */
let uv: string;
let tools: string;
beforeAll(async () => {
  const python = { version: '', path: await realpath(await pathOf('python3')) };
  tools = await mkdtemp(join(tmpdir(), 'runyard-uv-'));
  uv = await fetchUv(python, tools, async (command, cwd) => {
    await run('/bin/sh', ['-c', command], { cwd });
  });
});
afterAll(() => rm(tools, { recursive: true }));

let project: string;
beforeEach(async () => {
  project = await realpath(await mkdtemp(join(tmpdir(), 'runyard image-')));
});
afterEach(() => rm(project, { recursive: true }));

async function write(files: Record<string, string>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(project, name)), { recursive: true });
    await writeFile(join(project, name), content);
  }
}

function install(args: string[], more: Record<string, string> = {}): Promise<{ code: number; output: string }> {
  const env = { ...process.env, PROJECT_DIR: project, PATH: `${uv}:${process.env.PATH}`, ...more };
  return new Promise((resolve) => {
    execFile(process.execPath, ['--import', 'tsx', PROGRAM, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
}

const config = (more: object = {}) =>
  JSON.stringify({ dependencies: ['.'], graphs: { agent: './agent/graph.py:graph' }, ...more });
const PYPROJECT = `
[project]
name = "agent"
version = "1"
dependencies = ["text-unidecode"]
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[tool.setuptools]
packages = ["agent"]
`;

it('packages are installed before the code of a Python project is there, and stay when it has changed', async () => {
  await write({ 'langgraph.json': config(), 'pyproject.toml': PYPROJECT });
  const ahead = await install(['--ahead']);
  expect(ahead).toMatchObject({ code: 0, output: expect.stringContaining('+ text-unidecode==') });
  const environment = join(project, '.venv');
  const { ino } = await stat(environment);

  await write({ 'agent/__init__.py': '', 'agent/graph.py': 'from text_unidecode import unidecode' });
  const ended = await install(['--build-command', 'python -c "import agent.graph" && echo $STAGE > built'], {
    STAGE: 'of the build',
  });
  expect(ended.code, ended.output).toBe(0);
  expect(ended.output).not.toContain('+ text-unidecode==');
  // Companions come last, when all that the project asks for is known.
  expect(ended.output).toContain('+ langgraph==');
  expect((await stat(environment)).ino).toBe(ino);
  expect(await readFile(join(project, 'built'), 'utf8')).toBe('of the build\n');
  const code = 'import agent.graph, langgraph.graph; print(agent.graph.__file__)';
  const { stdout } = await run(join(environment, 'bin/python'), ['-c', code]);
  expect(stdout.trim()).toBe(join(project, 'agent/graph.py'));
});

it('what cannot be installed ahead is left to the line with the code, which fails with the reason', async () => {
  await write({ 'langgraph.json': config({ dependencies: ['no such package at all'] }) });
  const ahead = await install(['--ahead']);
  expect(ahead.output).toContain("It is installed with the project's code, and not before: `uv pip install");
  expect(ahead.code).toBe(0);
  const ended = await install([]);
  expect(ended).toMatchObject({
    code: 1,
    output: expect.stringMatching(/\nThe packages could not be installed: `uv /),
  });
  expect(ended.output).not.toContain('at async');
});

it('a Python that the image does not have is fetched, and no environment is kept that the source brings', async () => {
  await write({ 'langgraph.json': config({ python_version: '3.12', dependencies: [] }), '.venv/pyvenv.cfg': '' });
  const programs = join(project, 'programs');
  const python = await pathOf('python3');
  await write({
    'programs/uv': `#!/bin/sh
case "$1 $2" in
  --version*) echo uv 0.13.9 ;;
  "python find") echo "${python}" ;;
  *) echo "$UV_PYTHON_DOWNLOADS $UV_PYTHON_INSTALL_DIR: $*" >> "${project}/calls" ;;
esac
`,
  });
  await chmod(join(programs, 'uv'), 0o755);
  const ended = await install([], { PATH: `${programs}:${process.env.PATH}` });
  expect(ended.code, ended.output).toBe(0);
  const calls = (await readFile(join(project, 'calls'), 'utf8')).split('\n');
  expect(calls[0]).toBe('manual /opt/pythons: python install --no-bin 3.12');
  expect(existsSync(join(project, '.venv'))).toBe(false);
  expect(calls[1]).toMatch(new RegExp(`: venv .*--python ${python} `));
});
