import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { detectCommandTool, detectInstallation } from './installation.ts';
import { findWorkspace } from './workspaces.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'runyard-packages-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function files(contents: Record<string, unknown>): Promise<void> {
  for (const [name, content] of Object.entries(contents)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
}

/** Returns the installation of the project, with the folder relative to the root. */
async function detected(projectFolder = '.') {
  const found = await detectInstallation(root, join(root, projectFolder));
  return found && [found.tool?.package ?? null, found.command, found.folder.slice(root.length)];
}

describe('packages are installed', () => {
  it.each<[string, Record<string, unknown>, unknown]>([
    ['npm', { 'package-lock.json': {} }, [null, 'npm ci --no-audit --no-fund', '']],
    ['npm', { 'npm-shrinkwrap.json': {} }, [null, 'npm ci --no-audit --no-fund', '']],
    ['pnpm', { 'pnpm-lock.yaml': '' }, ['pnpm@10.34.8', 'pnpm i --frozen-lockfile', '']],
    ['yarn', { 'yarn.lock': '' }, ['yarn@1.22.22', 'yarn install --frozen-lockfile', '']],
    ['bun', { 'bun.lock': '' }, ['bun@1.4.5', 'bun install --frozen-lockfile', '']],
    ['bun', { 'bun.lockb': '' }, ['bun@1.4.5', 'bun install --frozen-lockfile', '']],
    ['pnpm', { 'pnpm-lock.yaml': '', 'package-lock.json': {} }, ['pnpm@10.34.8', 'pnpm i --frozen-lockfile', '']],
    ['npm', { 'package-lock.json': {}, 'deno.lock': '' }, [null, 'npm ci --no-audit --no-fund', '']],
  ])('by %s when the lock file is its own, with the exact locked releases', async (_, lock, expected) => {
    await files({ 'package.json': {}, ...lock });
    expect(await detected()).toEqual(expected);
  });

  it.each([
    ['pnpm-lock.yaml', 'lockfileVersion: 5.4\n', 'pnpm@7.33.7'],
    ['pnpm-lock.yaml', "lockfileVersion: '6.0'\n", 'pnpm@8.15.9'],
    ['pnpm-lock.yaml', "lockfileVersion: '9.0'\n", 'pnpm@10.34.8'],
    ['yarn.lock', '# yarn lockfile v1\n\nms@^2.0.0:\n  version "2.1.3"\n', 'yarn@1.22.22'],
    ['yarn.lock', '# by yarn\n\n__metadata:\n  version: 4\n', '@yarnpkg/cli-dist@2.4.2'],
    ['yarn.lock', '# by yarn\n\n__metadata:\n  version: 6\n', '@yarnpkg/cli-dist@3.8.7'],
    ['yarn.lock', '# by yarn\n\n__metadata:\n  version: 8\n', '@yarnpkg/cli-dist@4.12.0'],
    ['yarn.lock', '# by yarn\n\n__metadata:\n  version: 10\n', '@yarnpkg/cli-dist@4.18.1'],
  ])('by a release that reads the format of its %s (%j)', async (name, lock, expected) => {
    await files({ 'package.json': {}, [name]: lock });
    expect((await detected())?.[0]).toBe(expected);
    expect((await detectCommandTool(`${name.startsWith('pnpm') ? 'pnpm' : 'yarn'} install`, root))?.package).toBe(
      expected,
    );
  });

  it('by no unknown package manager', async () => {
    await files({ 'package.json': {}, 'deno.lock': '' });
    await expect(detected()).rejects.toThrow('Projects of deno cannot be built here');
    await files({ 'aube-lock.yaml': '' });
    await expect(detected()).rejects.toThrow('Projects of aube cannot be built here');
  });

  it('in the version that packageManager names, even without a lock file', async () => {
    await files({ 'package.json': { packageManager: 'pnpm@9.15.0+sha512.abc' } });
    expect(await detected()).toEqual(['pnpm@9.15.0', 'pnpm i', '']);
    await files({ 'pnpm-lock.yaml': '' });
    expect(await detected()).toEqual(['pnpm@9.15.0', 'pnpm i --frozen-lockfile', '']);
    await files({ 'package.json': { packageManager: 'yarn@4.5.0' }, 'yarn.lock': '' });
    await rm(join(root, 'pnpm-lock.yaml'));
    expect(await detected()).toEqual(['@yarnpkg/cli-dist@4.5.0', 'yarn install --immutable', '']);
  });

  it.each([
    [{ name: 'pnpm', version: '9.15.0' }, 'pnpm@9.15.0'],
    [{ name: 'pnpm', version: '>=9' }, 'pnpm@10.34.8'],
    [{ name: 'yarn', version: '^4.0.0' }, '@yarnpkg/cli-dist@4.18.1'],
    [{ name: 'npm' }, null],
  ])('by the package manager of devEngines: %j', async (packageManager, expected) => {
    await files({ 'package.json': { devEngines: { packageManager } } });
    expect((await detected())?.[0]).toBe(expected);
  });

  it('by npm where nothing says otherwise, and an invalid version is ignored', async () => {
    await files({ 'package.json': {} });
    expect(await detected()).toEqual([null, 'npm i --no-audit --no-fund', '']);
    await files({ 'package.json': { packageManager: 'pnpm@$(touch hacked)' } });
    expect((await detected())?.[0]).toBe('pnpm@10.34.8');
  });

  it('at the root of a workspace, found by a lock file or by its manifest', async () => {
    await files({ 'package.json': { workspaces: ['apps/*'] }, 'apps/agent/package.json': {} });
    expect(await detected('apps/agent')).toEqual([null, 'npm i --no-audit --no-fund', '']);
    await files({ 'pnpm-workspace.yaml': '' });
    expect(await detected('apps/agent')).toEqual(['pnpm@10.34.8', 'pnpm i', '']);
    await files({ 'pnpm-lock.yaml': '' });
    expect(await detected('apps/agent')).toEqual(['pnpm@10.34.8', 'pnpm i --frozen-lockfile', '']);
    await files({ 'apps/agent/package-lock.json': {} });
    expect(await detected('apps/agent')).toEqual([null, 'npm ci --no-audit --no-fund', '/apps/agent']);
  });

  const rootLock = { 'package-lock.json': {} };
  const needing = { dependencies: { ms: '^2.1.0' } };
  it.each<[string, Record<string, unknown>, string]>([
    ['of a member', { 'package.json': { workspaces: ['./apps/*/'] }, ...rootLock }, ''],
    ['of a member, as yarn names them', { 'package.json': { workspaces: { packages: ['apps/**'] } }, ...rootLock }, ''],
    ['of a member that pnpm names', { 'pnpm-workspace.yaml': 'packages:\n  - "apps/*"\n' }, ''],
    [
      'of one that is left out',
      { 'package.json': { workspaces: ['apps/*', '!apps/agent'] }, ...rootLock },
      '/apps/agent',
    ],
    ['of a folder beside the members', { 'package.json': { workspaces: ['libs/*'] }, ...rootLock }, '/apps/agent'],
    ['below a package of its own', { 'package.json': needing, ...rootLock }, '/apps/agent'],
  ])('in the folder that names them: %s', async (_, above, expected) => {
    await files({ ...above, 'apps/agent/package.json': needing, 'apps/agent/src/langgraph.json': {} });
    expect((await detected('apps/agent/src'))?.[2]).toBe(expected);
  });

  it('above a package.json that names none', async () => {
    await files({ 'package.json': needing, ...rootLock, 'agent/package.json': { type: 'module' } });
    expect((await detected('agent'))?.[2]).toBe('');
    await rm(join(root, 'package-lock.json'));
    expect((await detected('agent'))?.[2]).toBe('');
  });

  it('not from an invalid package.json, which the error names', async () => {
    await files({ 'package.json': '{' });
    await expect(detected()).rejects.toThrow(/package\.json is not valid JSON/);
  });

  it('only with a package.json, and not above the source', async () => {
    await files({ 'inner/langgraph.json': {}, 'package-lock.json': {}, 'package.json': {} });
    expect(await detectInstallation(join(root, 'inner'), join(root, 'inner'))).toBeNull();
  });
});

describe("an author's own command", () => {
  it.each([
    ['pnpm install --prod', 'pnpm@10.34.8'],
    ['CI=1 yarn', 'yarn@1.22.22'],
    ['bun install', 'bun@1.4.5'],
    ['npm ci', null],
    ['make packages', null],
  ])('%s is run after its package manager was fetched', async (command, expected) => {
    expect((await detectCommandTool(command, root))?.package ?? null).toBe(expected);
  });

  it('gets the version the project names', async () => {
    await files({ 'package.json': { packageManager: 'pnpm@9.15.0' } });
    expect((await detectCommandTool('pnpm i', root))?.package).toBe('pnpm@9.15.0');
  });
});

describe('the workspace of a folder', () => {
  it('is the one above that names it, with any other files there', async () => {
    await files({
      'package.json': { workspaces: ['apps/*'] },
      'apps/package.json': '{',
      'apps/agent/package.json': {},
    });
    expect(await findWorkspace(join(root, 'apps/agent'))).toBe(root);
    expect(await findWorkspace(join(root, 'libs'))).toBeNull();
    expect(await findWorkspace(root)).toBeNull();
  });
});
