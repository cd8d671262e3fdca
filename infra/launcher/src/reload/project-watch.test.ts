import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readProject } from '@runyard/project';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { watchedPaths } from '../project/watched-paths.ts';
import { ProjectWatch } from './project-watch.ts';

let work: string;
let watch: ProjectWatch | undefined;
const never = new AbortController().signal;

beforeEach(() => {
  work = realpathSync(mkdtempSync(join(tmpdir(), 'runyard-watch-')));
});
afterEach(async () => {
  await watch?.close();
  rmSync(work, { recursive: true });
});

function write(file: string, content = String(Math.random())): string {
  const path = join(work, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

async function watchFiles(envFile: string | null = null): Promise<ProjectWatch> {
  const onError = (error: unknown) => {
    throw error;
  };
  watch = new ProjectWatch({ paths: [join(work, 'app')], envFile, dataDir: join(work, 'app/data'), onError });
  await watch.ready();
  return watch;
}

it('an edit is all files of code and settings that change together, new and removed ones too', async () => {
  const removed = write('app/src/removed.py');
  const files = ['app/src/agent.ts', 'app/langgraph.json', 'app/tsconfig.json', 'app/prod.env'].map((file) =>
    write(file),
  );
  const edits = await watchFiles(join(work, 'app/prod.env'));
  for (const file of files) writeFileSync(file, 'edited');
  rmSync(removed);
  const added = write('app/new/tools.mjs');
  const seen = new Set<string>();
  while (seen.size < 6) for (const file of await edits.nextEdit(never)) seen.add(file);
  expect(seen).toEqual(new Set([...files, removed, added]));
});

it('what agents, tools and the platform write is no edit', async () => {
  for (const folder of ['node_modules/a', '.venv/lib', '.git', 'src/__pycache__', 'data/logs'])
    write(`app/${folder}/a.py`);
  const edits = await watchFiles();
  for (const folder of ['node_modules/a', '.venv/lib', '.git', 'src/__pycache__', 'data/logs', '.new'])
    write(`app/${folder}/a.py`);
  for (const file of ['notes.md', 'src/answers.json', 'a.log', 'other.env', 'src/database.sqlite'])
    write(`app/${file}`);
  const edited = write('app/src/agent.py');
  expect(await edits.nextEdit(never)).toEqual([edited]);
});

it('a link out of the project is not followed, nor one around it', async () => {
  write('elsewhere/code.py');
  write('app/agent.py');
  symlinkSync(join(work, 'elsewhere'), join(work, 'app/elsewhere'));
  symlinkSync(work, join(work, 'app/around'));
  const edits = await watchFiles();
  write('elsewhere/code.py');
  const edited = write('app/agent.py');
  expect(await edits.nextEdit(never)).toEqual([edited]);
});

it('work for an edit is told of the next one, which is not lost', async () => {
  write('app/agent.ts');
  const edits = await watchFiles();
  const edited = await edits.untilNextEdit(never, async (signal) => {
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
    const file = write('app/agent.ts');
    await aborted;
    return file;
  });
  expect(await edits.nextEdit(never)).toEqual([edited]);
});

it('nobody waits for an edit once everything stops', async () => {
  write('app/agent.ts');
  const stopping = new AbortController();
  const next = (await watchFiles()).nextEdit(stopping.signal);
  stopping.abort();
  await expect(next).rejects.toThrow('aborted');
});

it('a project is loaded from its folder, those of its graphs and packages beside it, and its file of variables', async () => {
  write(
    'app/langgraph.json',
    '{"graphs": {"one": "./src/one.ts:graph", "two": "../shared/two.ts:graph"}, "env": "../.env"}',
  );
  for (const file of ['.env', 'app/src/one.ts', 'shared/two.ts', 'packages/tools/index.ts']) write(file, '');
  write('app/package.json', '{"dependencies": {"tools": "workspace:*", "installed": "1", "absent": "1"}}');
  write('app/node_modules/installed/package.json', '{}');
  symlinkSync(join(work, 'packages/tools'), join(work, 'app/node_modules/tools'));
  const project = await readProject(join(work, 'app'), 'langgraph.json');
  const paths = ['app', 'shared', 'packages/tools', '.env'].map((path) => join(work, path));
  expect(new Set(await watchedPaths(project))).toEqual(new Set(paths));
  // While an edit is half written, the rest is watched on.
  write('app/package.json', '{');
  expect(await watchedPaths(project)).toContain(join(work, 'app'));
});
