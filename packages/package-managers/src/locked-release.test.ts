import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { detectInstallation } from './installation.ts';
import { findLockedRelease } from './locked-release.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'runyard-locks-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function files(contents: Record<string, unknown>): Promise<void> {
  for (const [name, content] of Object.entries(contents)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
}

/** Returns the release of `@a/b` that the installation of a project places for a folder of it. */
async function lockedFor(projectFolder = '.', folder = projectFolder): Promise<string | undefined> {
  const installation = await detectInstallation(root, join(root, projectFolder));
  return installation ? findLockedRelease(installation, '@a/b', join(root, folder)) : undefined;
}

const manifest = { dependencies: { '@a/b': '^1.2.0' } };
const npmLock = (packages: object) => ({ lockfileVersion: 3, packages });
const pnpmLock = (importers: Record<string, string>) => {
  const entries = Object.entries(importers).map(
    ([path, version]) =>
      `  ${path}:\n    dependencies:\n      '@a/b':\n        specifier: ^1.2.0\n        version: ${version}\n`,
  );
  return `lockfileVersion: '9.0'\n\nimporters:\n\n${entries.join('\n')}`;
};
const bunLock = (...packages: string[]) =>
  `{\n  "lockfileVersion": 1,\n  "workspaces": { "": { "name": "x", }, },\n  "packages": {\n${packages.join('\n')}\n  }\n}\n`;
const BERRY = '# by yarn\n\n__metadata:\n  version: 8\n  cacheKey: 10c0\n\n';

describe('the locked release is read', () => {
  it.each<[string, string, unknown]>([
    ['npm', 'package-lock.json', npmLock({ 'node_modules/@a/b': { version: '1.2.3' } })],
    ['pnpm 10', 'pnpm-lock.yaml', pnpmLock({ '.': '1.2.3(@a/core@1.0.0)' })],
    [
      'pnpm 8',
      'pnpm-lock.yaml',
      "lockfileVersion: '6.0'\n\ndependencies:\n  '@a/b':\n    specifier: ^1.2.0\n    version: 1.2.3(@a/core@1.0.0)\n",
    ],
    ['pnpm 7', 'pnpm-lock.yaml', "lockfileVersion: 5.4\n\ndependencies:\n  '@a/b': 1.2.3_@a+core@1.0.0\n"],
    ['Yarn 1', 'yarn.lock', '# yarn lockfile v1\n\n\n"@a/b@^1.1.0", "@a/b@^1.2.0":\n  version "1.2.3"\n'],
    [
      'Yarn 4',
      'yarn.lock',
      `${BERRY}"@a/b@npm:^1.1.0, @a/b@npm:^1.2.0":\n  version: 1.2.3\n  resolution: "@a/b@npm:1.2.3"\n`,
    ],
    ['bun', 'bun.lock', bunLock('    "@a/b": ["@a/b@1.2.3", "", {}, "sha512-x"],')],
  ])('of %s', async (_, name, lock) => {
    await files({ 'package.json': manifest, [name]: lock });
    expect(await lockedFor('.', 'src/graphs')).toBe('1.2.3');
  });

  it('from the lock file that the installation follows, where there are two', async () => {
    const old = { 'package-lock.json': npmLock({ 'node_modules/@a/b': { version: '0.1.0' } }) };
    await files({ 'package.json': manifest, ...old, 'pnpm-lock.yaml': pnpmLock({ '.': '1.2.3' }) });
    expect(await lockedFor()).toBe('1.2.3');
    await files({ 'npm-shrinkwrap.json': npmLock({ 'node_modules/@a/b': { version: '1.2.4' } }) });
    await rm(join(root, 'pnpm-lock.yaml'));
    expect(await lockedFor()).toBe('1.2.4');
  });

  it('for the member of a workspace', async () => {
    const members = { 'apps/new/package.json': manifest, 'apps/old/package.json': manifest };
    await files({ 'package.json': { workspaces: ['apps/*'] }, ...members });
    await files({
      'package-lock.json': npmLock({
        'node_modules/@a/b': { version: '1.2.3' },
        'apps/old/node_modules/@a/b': { version: '0.1.0' },
      }),
    });
    expect([await lockedFor('apps/new'), await lockedFor('apps/old', 'apps/old/src')]).toEqual(['1.2.3', '0.1.0']);
    await files({
      'pnpm-workspace.yaml': 'packages: [apps/*]\n',
      'pnpm-lock.yaml': pnpmLock({ 'apps/new': '1.2.3', 'apps/old': '0.1.0' }),
    });
    expect([await lockedFor('apps/new'), await lockedFor('apps/old', 'apps/old/src')]).toEqual(['1.2.3', '0.1.0']);
  });
});

describe('no release is surely locked', () => {
  it('by a lock file above that is not of the project', async () => {
    const lock = npmLock({ 'node_modules/@a/b': { version: '0.1.0' } });
    await files({ 'package.json': manifest, 'package-lock.json': lock, 'agent/package.json': manifest });
    expect(await lockedFor('agent')).toBeUndefined();
  });

  it.each<[string, string, unknown]>([
    ['npm links', 'package-lock.json', npmLock({ 'node_modules/@a/b': { resolved: 'lib', link: true } })],
    [
      'npm has below another',
      'package-lock.json',
      npmLock({ 'node_modules/c/node_modules/@a/b': { version: '0.1.0' } }),
    ],
    ['npm has in the oldest format', 'package-lock.json', { dependencies: { '@a/b': { version: '0.1.0' } } }],
    ['pnpm links', 'pnpm-lock.yaml', pnpmLock({ '.': 'link:lib' })],
    ['pnpm has below another', 'pnpm-lock.yaml', "lockfileVersion: '9.0'\n\npackages:\n\n  '@a/b@0.1.0': {}\n"],
    ['Yarn has for another range', 'yarn.lock', '"@a/b@^0.1.0":\n  version "0.1.0"\n'],
    [
      'Yarn has in several releases',
      'yarn.lock',
      '"@a/b@^1.2.0":\n  version "0.1.0"\n\n"@a/b@^1.3.0":\n  version "1.3.0"\n',
    ],
    [
      'bun has in several releases',
      'bun.lock',
      bunLock('    "@a/b": ["@a/b@0.1.0", "", {}],', '    "c/@a/b": ["@a/b@1.3.0", "", {}],'),
    ],
    ['bun links', 'bun.lock', bunLock('    "@a/b": ["@a/b@workspace:lib"],')],
    ['bun has in a binary file', 'bun.lockb', '#!/usr/bin/env bun\nbun-lockfile-format-v0\n\0'],
    ['a broken file has', 'package-lock.json', '{'],
    ['a foreign file has', 'pnpm-lock.yaml', '- @a/b'],
  ])('of a package that %s', async (_, name, lock) => {
    await files({ 'package.json': manifest, [name]: lock });
    expect(await lockedFor()).toBeUndefined();
  });
});
