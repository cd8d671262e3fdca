import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMPANIONS, checkLangGraph, missingCompanions, parseReleases } from './companions.ts';
import { fetchUv } from './fetch-uv.ts';
import { type PythonRequirements, planSteps, planStepsAhead } from './install-steps.ts';
import { chooseInterpreter, describeCommand, findCandidates, parseDescriptions } from './interpreters.ts';
import { moveCommand } from './move-environment.ts';

const run = promisify(execFile);

let root: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'runyard python-')));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function files(contents: Record<string, string>): Promise<void> {
  for (const [name, content] of Object.entries(contents)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  }
}

describe('the Python of a project', () => {
  it('is found on the PATH or where the operator says, once, and asked by whoever will run it', async () => {
    const fake = (version: string) => `#!/bin/sh\necho "python ${version} /opt/${version}"\n`;
    await files({ 'bin/python3.12': fake('3.12'), 'bin/python3.11': '#!/bin/sh\nexit 3\n', 'own/py': fake('3.11') });
    await files({ 'bin/uv': '#!/bin/sh\necho uv 0.13.9\n', 'old/python3': fake('3.9') });
    for (const name of ['bin/python3.12', 'bin/python3.11', 'own/py', 'bin/uv', 'old/python3'])
      await chmod(join(root, name), 0o755);
    await symlink('python3.12', join(root, 'bin/python3'));
    const path = [join(root, 'bin'), join(root, 'old'), 'relative'].join(':');
    const candidates = await findCandidates([join(root, 'own/py'), join(root, 'absent')], path);
    expect(candidates.map((each) => each.slice(root.length))).toEqual([
      '/own/py',
      '/bin/python3.12',
      '/bin/python3.11',
      '/old/python3',
    ]);
    const { stdout } = await run('/bin/sh', ['-c', describeCommand(candidates)], { env: { PATH: `${path}:/bin` } });
    expect(parseDescriptions(stdout.split('\n'))).toEqual({
      interpreters: [
        { version: '3.11', path: '/opt/3.11' },
        { version: '3.12', path: '/opt/3.12' },
      ],
      hasUv: true,
    });
  });

  it('is the one that it wants, else the newest that is well tried', () => {
    const there = ['3.14', '3.11', '3.13'].map((version) => ({ version, path: `/opt/${version}` }));
    expect(chooseInterpreter(there, null).version).toBe('3.13');
    expect(chooseInterpreter(there, '3.11').version).toBe('3.11');
    expect(() => chooseInterpreter(there, '3.12')).toThrow(
      'Python 3.12 is not on this machine; it has 3.11, 3.13, and 3.14. Set "python_version" to one of them,',
    );
    expect(() => chooseInterpreter([], null)).toThrow('There is no Python from 3.11 to 3.14 on this machine');
  });

  it('runs with a uv that has what is used of it', () => {
    expect(parseDescriptions(['uv 0.7.9']).hasUv).toBe(false);
    expect(parseDescriptions(['uv 1.0.0']).hasUv).toBe(true);
    expect(parseDescriptions([]).hasUv).toBe(false);
  });
});

describe('packages are installed', () => {
  const NONE: PythonRequirements = { requirements: [], folders: [], lock: null, pipConfigFile: null };
  type Installer = 'uv' | 'pip' | 'uv ahead';
  const steps = async (wanted: Partial<PythonRequirements>, installer: Installer = 'uv') => {
    const place = { root, directory: join(root, 'agent'), version: '3.12', constraints: '"$C"' };
    const folders = wanted.folders?.map((folder) => join(root, 'agent', folder)) ?? [];
    const all = { ...NONE, ...wanted, folders };
    const found = await (installer === 'uv ahead' ? planStepsAhead(all, place) : planSteps(all, installer, place));
    return found.map(({ command, folder }) => `${folder.slice(root.length)}: ${command}`);
  };

  it('in the order of the official image: requirements, files of folders, folders that are packages', async () => {
    await files({
      'agent/pyproject.toml': '',
      'agent/requirements.txt': 'not read',
      'agent/my libs/requirements.txt': '',
      'agent/plain/module.py': '',
      'shared/setup.py': '',
    });
    const wanted = { requirements: ['langchain-openai>=1'], folders: ['.', './my libs', './plain', '../shared'] };
    expect(await steps(wanted)).toEqual([
      `/agent: uv pip install -c "$C" 'langchain-openai>=1'`,
      `/agent: uv pip install -c "$C" -r 'my libs/requirements.txt'`,
      '/agent: uv pip install -c "$C" -e . -e ../shared',
    ]);
    expect((await steps({ requirements: ['a'] }, 'pip'))[0]).toContain('python -m pip install --no-compile -c "$C" a');
  });

  it('of a lock file, which uv alone reads', async () => {
    await files({ 'pyproject.toml': '', 'uv.lock': '', 'agent/a.py': '' });
    expect(await steps({ lock: { folder: root, member: 'agent' } })).toEqual([
      ': uv sync --locked --no-dev --python 3.12 --package agent',
    ]);
    await expect(steps({ lock: { folder: root, member: null } }, 'pip')).rejects.toThrow('"source" needs uv');
    await rm(join(root, 'uv.lock'));
    await expect(steps({ lock: { folder: root, member: null } })).rejects.toThrow('needs ../uv.lock, which does not');
  });

  it('before the code of the project is there, as far as its files say which', async () => {
    await files({ 'agent/pyproject.toml': '', 'agent/libs/requirements.txt': '', 'agent/old/setup.py': '' });
    expect(await steps({ requirements: ['a'], folders: ['.'] }, 'uv ahead')).toEqual([
      '/agent: uv pip install -c "$C" a',
      '/agent: uv pip install -c "$C" -r pyproject.toml',
    ]);
    expect(await steps({ folders: ['./old'] }, 'uv ahead')).toEqual([]);
    await files({ 'pyproject.toml': '', 'uv.lock': '' });
    expect(await steps({ lock: { folder: root, member: null } }, 'uv ahead')).toEqual([
      ': uv sync --frozen --no-dev --python 3.12 --no-install-workspace',
    ]);
    await expect(steps({ requirements: ['-r/etc/passwd'] }, 'uv ahead')).rejects.toThrow('is an option');
  });

  it('before that never under the name of a folder of the project, which an index may have of others', async () => {
    await files({ 'agent/pyproject.toml': '', 'agent/libs/requirements.txt': '' });
    expect(await steps({ folders: ['.', './libs', './absent'] }, 'uv ahead')).toEqual([
      '/agent: uv pip install -c "$C" -r libs/requirements.txt',
    ]);
  });

  it('of nothing but the source, whatever paths, links and requirements say', async () => {
    await files({ 'agent/a.py': '' });
    await symlink('/etc', join(root, 'agent/link'));
    await expect(steps({ folders: ['../..'] })).rejects.toThrow('"dependencies" names ../.., which leads out');
    await expect(steps({ folders: ['./link'] })).rejects.toThrow('"dependencies" names ./link, which leads out');
    await expect(steps({ folders: ['./absent'] })).rejects.toThrow('"dependencies" names ./absent, which does not');
    await expect(steps({ folders: ['./a.py'] })).rejects.toThrow('"dependencies" names ./a.py, which is not a folder');
    await expect(steps({ lock: { folder: '/', member: null } })).rejects.toThrow('"source.root" names ../');
    await expect(steps({ pipConfigFile: '/etc/passwd' })).rejects.toThrow('"pip_config_file" names ../');
    await expect(steps({ requirements: ['-r/etc/passwd'] })).rejects.toThrow('is an option and no requirement');
    const secret = steps({ requirements: ['a @ git+https://me:geheim@example.com/a'] });
    await expect(secret).rejects.toThrow('"dependencies" has a password in a @ git+https://…@example.com/a');
    expect(await steps({ requirements: ["a; echo '$(touch hacked)'"] })).toEqual([
      `/agent: uv pip install -c "$C" 'a; echo '\\''$(touch hacked)'\\'''`,
    ]);
  });
});

it('the base image of deployments has the uv that builds fetch', async () => {
  const dockerfile = new URL('../../../../infra/docker/agent-server/Dockerfile', import.meta.url);
  const commands: string[] = [];
  const note = async (command: string) => void commands.push(command);
  await fetchUv({ version: '3.12', path: 'python3' }, join(root, 'tools'), note);
  expect(await readFile(dockerfile, 'utf8')).toContain(` ${commands.join().split(' ').at(-1)} `);
});

describe('what official images have', () => {
  it('is added where it is missing, in releases that the Python host is tested with', async () => {
    const requirements = new URL('../../../../hosts/python/requirements.txt', import.meta.url);
    const tested = parseReleases((await readFile(requirements, 'utf8')).split('\n'));
    const releases = Object.entries(COMPANIONS).filter(([name]) => tested.has(name));
    expect(releases.length).toBeGreaterThan(5);
    for (const [name, version] of releases) expect([name, version]).toEqual([name, tested.get(name)]);
    const missing = missingCompanions(parseReleases(['PyJWT==1.0', 'python_dotenv==1', '-e file:///x', '']));
    expect(missing).toHaveLength(Object.keys(COMPANIONS).length - 2);
    expect(missing).toContain(`uvicorn==${COMPANIONS.uvicorn}`);
  });

  it.each([
    ['0.5.4', "The project's langgraph is 0.5.4; 0.6.0 or newer is needed."],
    ['2.0.0a1', "The project's langgraph is 2.0.0a1; one below 2 is needed."],
    ['0.6.0', undefined],
    ['1.2.24', undefined],
  ])('includes a LangGraph that runs here: %s', (version, fault) => {
    const check = () => checkLangGraph(new Map([['langgraph', version]]));
    if (fault === undefined) expect(check).not.toThrow();
    else expect(check).toThrow(fault);
  });
});

it('what is installed in place is found when the project lies elsewhere', async () => {
  const site = 'source/agent/.venv/lib/python3.11/site-packages';
  await files({
    'source/lib/src/one.py': 'VALUE = 1',
    'source/lib/two/__init__.py': 'VALUE = 2',
    [`${site}/one.pth`]: `${root}/source/lib/src\nimport os\n${root}/source-other\n`,
    [`${site}/__editable___two_finder.py`]: `MAPPING = {'two': '${root}/source/lib/two'}\nROOT = '${root}/source'\n`,
  });
  await run('/bin/sh', ['-c', moveCommand('python3', join(root, 'source'))], { cwd: join(root, 'source/agent') });
  const text = await readFile(join(root, site, 'one.pth'), 'utf8');
  expect(text).toBe(`../../../../../lib/src\nimport os\n${root}/source-other\n`);
  const code = `import runpy, sys; print(runpy.run_path(sys.argv[1])["MAPPING"]["two"], runpy.run_path(sys.argv[1])["ROOT"])`;
  const { stdout } = await run('python3', ['-c', code, join(root, site, '__editable___two_finder.py')]);
  expect(stdout.trim()).toBe(`${root}/source/lib/two ${root}/source`);
});
