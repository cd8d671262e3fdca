import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { installCommand, installProjectDependencies } from './install-dependencies.ts';

const work = mkdtempSync(join(tmpdir(), 'runyard-project-'));
afterAll(() => rmSync(work, { recursive: true }));

function folderWith(files: Record<string, string>): string {
  const folder = mkdtempSync(join(work, 'project-'));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}
const manifest = JSON.stringify({ name: 'p', version: '1.0.0', dependencies: { local: 'file:./local' } });

describe('installCommand', () => {
  it('is that of the package manager whose lockfile the project has', async () => {
    const commandFor = (files: Record<string, string>) =>
      installCommand(folderWith({ 'package.json': manifest, ...files }));
    expect(await commandFor({})).toEqual(['npm', 'install', '--no-audit', '--no-fund']);
    expect((await commandFor({ 'package-lock.json': '' }))?.slice(0, 2)).toEqual(['npm', 'ci']);
    expect((await commandFor({ 'yarn.lock': '' }))?.slice(0, 3)).toEqual(['npx', '--yes', 'yarn']);
    expect((await commandFor({ 'pnpm-lock.yaml': '' }))?.slice(0, 3)).toEqual(['npx', '--yes', 'pnpm']);
  });

  it('is none when everything is there, be it further up as in a workspace, or nothing is asked for', async () => {
    const workspace = folderWith({ 'app/package.json': manifest, 'node_modules/local/package.json': '{}' });
    expect(await installCommand(join(workspace, 'app'))).toBeNull();
    expect(await installCommand(folderWith({}))).toBeNull();
  });
});

describe('installProjectDependencies', () => {
  const progress = { step: () => {}, say: () => {} };
  const projectIn = (folder: string) => ({ folder, name: 'p', distinctName: 'p-1', graphs: ['g'] as [string] });

  it('installs what is missing', async () => {
    const folder = folderWith({ 'package.json': manifest, 'local/package.json': '{"name":"local","version":"1.0.0"}' });
    await installProjectDependencies(projectIn(folder), progress, new AbortController().signal);
    expect(await installCommand(folder)).toBeNull();
  });

  it('shows the end of the output when that fails', async () => {
    const folder = folderWith({ 'package.json': manifest, 'package-lock.json': '{}' });
    const installing = installProjectDependencies(projectIn(folder), progress, new AbortController().signal);
    await expect(installing).rejects.toThrow(/could not be installed \(npm ci .*\):\n[\s\S]*npm error/);
  });
});
