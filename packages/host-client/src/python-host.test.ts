import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { pythonHost } from './python-host.ts';

const folder = await mkdtemp(join(tmpdir(), 'runyard-python-host-'));
afterAll(() => rm(folder, { recursive: true }));

async function makePython(environment: string): Promise<string> {
  const file = join(environment, 'bin/python');
  await mkdir(join(environment, 'bin'), { recursive: true });
  await writeFile(file, '#!/bin/sh\n');
  await chmod(file, 0o755);
  return file;
}

it('the Python of a project, with its programs, is beside its file, else in the active environment, else on the PATH', async () => {
  const active = join(folder, 'active');
  const commandOf = async (environment = {}) => (await pythonHost(folder, environment)).command;
  expect(await commandOf()).toBe('python3');
  expect(await commandOf({ VIRTUAL_ENV: active })).toBe('python3');
  const ofActive = await makePython(active);
  expect(await commandOf({ VIRTUAL_ENV: active })).toBe(ofActive);
  const beside = await makePython(join(folder, '.venv'));
  expect(await commandOf({ VIRTUAL_ENV: active })).toBe(beside);
  const { environment } = await pythonHost(folder, { VIRTUAL_ENV: active, PATH: '/bin' });
  expect(environment).toMatchObject({
    VIRTUAL_ENV: join(folder, '.venv'),
    PATH: `${join(folder, '.venv/bin')}:/bin`,
  });
});

it('a project whose packages were installed for a Python of another machine is told so', async () => {
  const moved = join(folder, 'moved');
  await mkdir(join(moved, '.venv/bin'), { recursive: true });
  await symlink('/nowhere/python3.12', join(moved, '.venv/bin/python'));
  await expect(pythonHost(moved, {})).rejects.toThrow(
    'were installed for /nowhere/python3.12, and it cannot be run here',
  );
});

it.each([
  ['venv', 'home = /usr/bin\nversion = 3.10.12\n', '3.10'],
  ['uv', 'home = /usr/bin\nimplementation = CPython\nversion_info = 3.9.18\n', '3.9'],
])(
  'a project whose environment has a Python that is too old is told so, as made by %s',
  async (maker, text, version) => {
    const old = join(folder, `made-by-${maker}`);
    await makePython(join(old, '.venv'));
    await writeFile(join(old, '.venv/pyvenv.cfg'), text);
    await expect(pythonHost(old, {})).rejects.toThrow(
      `The environment ${join(old, '.venv')} has Python ${version}; 3.11 or newer is needed: make it again with one.`,
    );
  },
);

it('a project whose environment has a Python that runs it, or does not say which, starts', async () => {
  const recent = join(folder, 'recent');
  const python = await makePython(join(recent, '.venv'));
  for (const text of ['version = 3.11.0\n', 'version_info = 3.14.1.final.0\n', 'home = /usr/bin\n']) {
    await writeFile(join(recent, '.venv/pyvenv.cfg'), text);
    expect((await pythonHost(recent, {})).command).toBe(python);
  }
});
