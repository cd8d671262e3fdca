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
