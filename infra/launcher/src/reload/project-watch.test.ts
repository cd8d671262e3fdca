import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readProject } from '@runyard/project';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findSources, type Sources } from '../project/sources.ts';
import { ProjectWatch } from './project-watch.ts';

let work: string;
let watch: ProjectWatch | undefined;
const never = new AbortController().signal;

beforeEach(() => {
  work = realpathSync(mkdtempSync(join(tmpdir(), 'runyard-watch-')));
});
afterEach(async () => {
  await watch?.close();
  rmSync(work, { recursive: true, force: true });
});

const at = (path: string) => join(work, path);

function write(file: string, content = String(Math.random())): string {
  mkdirSync(dirname(at(file)), { recursive: true });
  writeFileSync(at(file), content);
  return at(file);
}

async function watchProject(sources: Partial<Sources> = {}): Promise<ProjectWatch> {
  watch = await ProjectWatch.open({
    sources: { folders: [at('app')], envFile: null, ...sources },
    dataDir: at('app/data'),
    onError: (error) => {
      throw error;
    },
  });
  return watch;
}

/** Waits until edits of all these files, and of no others, were seen. */
async function expectEdits(edits: ProjectWatch, files: string[]): Promise<void> {
  const seen = new Set<string>();
  while (seen.size < files.length) for (const file of await edits.nextEdit(never)) seen.add(file);
  expect(seen).toEqual(new Set(files));
}

describe('an edit is', () => {
  it('all files of code and settings that change together, new and removed ones too', async () => {
    const removed = write('app/src/removed.py');
    const files = ['src/agent.ts', 'langgraph.json', 'tsconfig.json', 'prod.env'].map((file) => write(`app/${file}`));
    const edits = await watchProject({ envFile: at('app/prod.env') });
    for (const file of files) writeFileSync(file, 'edited');
    rmSync(removed);
    await expectEdits(edits, [...files, removed, write('app/new/tools.mjs')]);
  });

  it.each([
    [
      'moved away and copied',
      () => {
        renameSync(at('app/src'), at('old'));
        cpSync(at('old'), at('app/src'), { recursive: true });
      },
    ],
    [
      'removed and made again',
      () => {
        rmSync(at('app/src'), { recursive: true });
        write('app/src/agent.py');
      },
    ],
    [
      'changed for another and back',
      () => {
        for (const [from, to] of [
          ['app/src', 'kept'],
          ['other', 'app/src'],
          ['app/src', 'other'],
          ['kept', 'app/src'],
        ])
          renameSync(at(from!), at(to!));
      },
    ],
    [
      'removed with the whole project and made again',
      () => {
        rmSync(at('app'), { recursive: true });
        write('app/src/agent.py');
      },
    ],
  ])('also one in a folder that was %s', async (_, replace) => {
    write('app/src/agent.py');
    write('other/agent.py');
    const edits = await watchProject();
    replace();
    // The first look finds more or less, by how fast it is; the edit after that has to be seen in any case.
    const marker = write('app/marker.py');
    while (!(await edits.nextEdit(never)).includes(marker));
    await expectEdits(edits, [write('app/src/agent.py', 'edited')]);
  });

  it('the first file of variables that langgraph.json names, within the project or outside', async () => {
    write('app/agent.ts');
    for (const file of ['app/.env', '.env']) {
      const edits = await watchProject({ envFile: at(file) });
      await expectEdits(edits, [write(file, 'A=1')]);
      rmSync(at(file));
      await expectEdits(edits, [at(file)]);
      await edits.close();
    }
  });

  it('not what agents, tools and the platform write, nor a file that is written as it was', async () => {
    const quiet = ['node_modules/a', '.venv/lib', '.git', 'src/__pycache__', 'data/logs'];
    for (const folder of quiet) write(`app/${folder}/a.py`);
    const same = write('app/src/generated.ts', 'same');
    const edits = await watchProject();
    for (const folder of [...quiet, '.new']) write(`app/${folder}/a.py`);
    for (const file of ['notes.md', 'src/answers.json', 'a.log', 'other.env', 'src/database.sqlite'])
      write(`app/${file}`);
    writeFileSync(same, readFileSync(same));
    await expectEdits(edits, [write('app/src/agent.py')]);
  });

  it('not what lies behind a link', async () => {
    write('elsewhere/code.py');
    write('app/agent.py');
    symlinkSync(at('elsewhere'), at('app/elsewhere'));
    symlinkSync(work, at('app/around'));
    const edits = await watchProject();
    write('elsewhere/code.py');
    await expectEdits(edits, [write('app/agent.py')]);
  });
});

it('work for an edit is told of the next one, which is not lost', async () => {
  write('app/agent.ts');
  const edits = await watchProject();
  const edited = await edits.untilNextEdit(never, async (signal) => {
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
    const file = write('app/agent.ts');
    await aborted;
    return file;
  });
  expect(await edits.nextEdit(never)).toEqual([edited]);
});

it('a folder that an edit names is watched from then on, and that is no edit of it', async () => {
  write('app/agent.ts');
  write('.shared/tools.ts');
  const edits = await watchProject();
  await edits.follow({ folders: [at('app'), at('.shared')], envFile: null });
  await expectEdits(edits, [write('.shared/tools.ts')]);
});

it('nobody waits for an edit once everything stops', async () => {
  write('app/agent.ts');
  const stopping = new AbortController();
  const next = (await watchProject()).nextEdit(stopping.signal);
  stopping.abort();
  await expect(next).rejects.toThrow('aborted');
});

it('a project is loaded from its folder, those that langgraph.json names and packages beside it', async () => {
  const graphs = { one: './src/one.ts:graph', two: '../shared/two.ts:graph', three: './.agents/three.ts:graph' };
  const settings = { graphs, env: '../.env', auth: { path: '../auth/auth.ts:auth' } };
  write('app/langgraph.json', JSON.stringify(settings));
  for (const file of [
    'app/src/one.ts',
    'app/.agents/three.ts',
    'shared/two.ts',
    'auth/auth.ts',
    'packages/tools/index.ts',
  ])
    write(file, '');
  write('app/package.json', '{"dependencies": {"tools": "workspace:*", "installed": "1", "absent": "1"}}');
  write('app/node_modules/installed/package.json', '{}');
  symlinkSync(at('packages/tools'), at('app/node_modules/tools'));
  const find = async () => findSources(await readProject(at('app'), 'langgraph.json'));
  const { folders, envFile } = await find();
  expect(new Set(folders)).toEqual(new Set(['app', 'app/.agents', 'shared', 'auth', 'packages/tools'].map(at)));
  // It is to come.
  expect(envFile).toBe(at('.env'));
  // While an edit is half written, the rest is watched on.
  write('app/package.json', '{');
  expect((await find()).folders).toContain(at('app'));
});
