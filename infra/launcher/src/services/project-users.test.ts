import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { chooseProjectUsers, closeDataFolder } from './project-users.ts';

const isRoot = process.geteuid?.() === 0;
let work: string;
const inWork = (...names: string[]) => join(work, ...names);

beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'runyard-project-users-'));
  chmodSync(work, 0o755);
  for (const name of ['repository/services/agent-api/dist', 'data/secrets', 'project/src', 'project/node_modules/p']) {
    mkdirSync(inWork(name), { recursive: true });
  }
  writeFileSync(inWork('repository/services/agent-api/dist/graph-host-child.js'), '');
  for (const name of ['langgraph.json', 'src/agent.ts', 'prod.env', '.secret'])
    writeFileSync(inWork('project', name), '');
  chmodSync(inWork('data'), 0o700);
  vi.spyOn(process, 'geteuid').mockReturnValue(0);
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(work, { recursive: true });
});

function decide(environment: NodeJS.ProcessEnv = {}, dataDir = inWork('data'), python: string | null = null) {
  const project = { python, folder: inWork('project'), name: 'p', distinctName: 'p-1', graphs: ['g'] as [string] };
  return chooseProjectUsers({
    repository: inWork('repository'),
    dataDir,
    project: { ...project, envFile: inWork('project/prod.env'), sources: { folders: [], envFile: null } },
    environment,
  });
}

describe('projects and builds run as', () => {
  it.runIf(isRoot)('users of their own where root starts the platform', async () => {
    const { settings, line } = await decide();
    expect(settings).toEqual({ PROJECT_USERS: '100000-999999999' });
    expect(line).toMatch(/^run as users of their own/);
  });

  it('the user that starts the platform where that is not root', async () => {
    vi.spyOn(process, 'geteuid').mockReturnValue(1000);
    const { settings, line } = await decide();
    expect(settings).toBeNull();
    expect(line).toMatch(/^run as your own user and can read what it can/);
  });

  it.each([
    ['the folder above the checkout', '.', 0o700, '.'],
    ['the checkout', 'repository', 0o750, 'repository'],
    ['the project', 'project', 0o711, 'project'],
    ['a folder of the project', 'project/src', 0o700, 'project/src'],
    ['a file of the project', 'project/src/agent.ts', 0o600, 'project/src/agent.ts'],
    ['what is installed in the project', 'project/node_modules', 0o700, 'project/node_modules'],
    [
      'a program of the checkout',
      'repository/services/agent-api/dist/graph-host-child.js',
      0o600,
      'repository/services/agent-api/dist/graph-host-child.js',
    ],
  ])('root where other users may not enter or read %s, which is named', async (_, name, mode, named) => {
    chmodSync(inWork(name), mode);
    const { settings, line } = await decide();
    expect(settings).toBeNull();
    expect(line).toContain(`run as root and can read everything, as ${inWork(named)} is closed to other users`);
  });

  it('root where the Python of the project is in a closed folder, as one that pyenv installed for root', async () => {
    mkdirSync(inWork('home/pythons'), { recursive: true });
    writeFileSync(inWork('home/pythons/python3'), '', { mode: 0o755 });
    symlinkSync(inWork('home/pythons/python3'), inWork('project/python'));
    chmodSync(inWork('home'), 0o700);
    const { settings, line } = await decide({}, inWork('data'), inWork('project/python'));
    expect(settings).toBeNull();
    expect(line).toContain(`as ${inWork('home')} is closed to other users`);
  });

  it('root where no process of another user can be started', async () => {
    vi.spyOn(process, 'execPath', 'get').mockReturnValue(inWork('no-such-program'));
    expect((await decide()).line).toContain('as no processes of other users can be started here');
  });

  it('root where a link to the data folder leads through a closed folder', async () => {
    mkdirSync(inWork('closed/data'), { recursive: true });
    symlinkSync(inWork('closed/data'), inWork('link'));
    chmodSync(inWork('closed'), 0o700);
    expect((await decide({}, inWork('link'))).line).toContain(`as ${inWork('closed')} is closed`);
  });

  it.runIf(isRoot)(
    'users of their own where only the variables of the project and hidden files are closed',
    async () => {
      for (const name of ['prod.env', '.secret']) chmodSync(inWork('project', name), 0o600);
      expect((await decide()).settings).not.toBeNull();
    },
  );

  it('root where the environment turns users off, and any other setting is refused', async () => {
    const { settings, line } = await decide({ RUNYARD_PROJECT_USERS: 'off' });
    expect(settings).toBeNull();
    expect(line).toContain('as RUNYARD_PROJECT_USERS is off');
    await expect(decide({ RUNYARD_PROJECT_USERS: 'no' })).rejects.toThrow('leave it out, or set it to off');
  });
});

it('the data folder is closed to other users, except for the way to builds and to folders that have to stay open', async () => {
  for (const name of ['builder', 'kafka', 'postgres', 'agents/mine'])
    mkdirSync(inWork('data', name), { recursive: true });
  writeFileSync(inWork('data/redis.conf'), '');
  await closeDataFolder(inWork('data'), [inWork('data/agents/mine')]);
  const modeOf = (name: string) => statSync(inWork('data', name)).mode & 0o777;
  const names = ['', 'secrets', 'kafka', 'redis.conf', 'builder', 'postgres', 'agents'];
  expect(names.map(modeOf)).toEqual([0o711, 0o700, 0o700, 0o600, 0o755, 0o755, 0o755]);
});
