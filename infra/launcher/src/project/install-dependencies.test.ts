import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSupervisor, type Supervisor } from '@runyard/local-infra';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findMissingInstallation, installProjectDependencies } from './install-dependencies.ts';

const work = realpathSync(mkdtempSync(join(tmpdir(), 'runyard-project-')));
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

describe('a missing dependency is installed', () => {
  it('by the package manager of the lock file, in the workspace that the project is a member of', async () => {
    const workspace = folderWith({
      'pnpm-workspace.yaml': 'packages:\n  - apps/*\n',
      'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
      'apps/agent/package.json': manifest,
      'examples/agent/package.json': manifest,
    });
    expect(await findMissingInstallation(join(workspace, 'apps/agent'))).toMatchObject({
      tool: { package: 'pnpm@10.34.8' },
      folder: workspace,
      command: 'pnpm i --frozen-lockfile',
    });
    const apart = join(workspace, 'examples/agent');
    expect(await findMissingInstallation(apart)).toMatchObject({ tool: null, folder: apart });
  });

  it('not when everything is there, be it further up as in a workspace, or no dependency is declared', async () => {
    const workspace = folderWith({ 'app/package.json': manifest, 'node_modules/local/package.json': '{}' });
    expect(await findMissingInstallation(join(workspace, 'app'))).toBeNull();
    expect(await findMissingInstallation(folderWith({}))).toBeNull();
  });

  it('not by an unknown package manager, which is reported', async () => {
    const folder = folderWith({ 'package.json': manifest, 'deno.lock': '' });
    await expect(findMissingInstallation(folder)).rejects.toThrow('npm, pnpm, yarn and bun install packages');
    await expect(findMissingInstallation(folderWith({ 'package.json': '{' }))).rejects.toThrow('is not valid JSON');
  });
});

describe('installProjectDependencies', () => {
  let supervisor: Supervisor;
  beforeAll(async () => {
    supervisor = await openSupervisor(join(work, 'data'));
  });
  afterAll(() => supervisor.close());
  const options = () => ({
    supervisor,
    progress: { step: () => {}, done: () => {}, say: () => {} },
    stopping: new AbortController().signal,
  });
  const projectIn = (folder: string) => ({
    folder,
    name: 'p',
    distinctName: 'p-1',
    graphs: ['g'] as [string],
    envFile: null,
    python: null,
    sources: { folders: [], envFile: null },
  });

  it('installs missing dependencies', async () => {
    const folder = folderWith({ 'package.json': manifest, 'local/package.json': '{"name":"local","version":"1.0.0"}' });
    await installProjectDependencies(projectIn(folder), options());
    expect(await findMissingInstallation(folder)).toBeNull();
  });

  it('shows the end of the output when that fails', async () => {
    const folder = folderWith({ 'package.json': manifest, 'package-lock.json': '{}' });
    const installing = installProjectDependencies(projectIn(folder), options());
    await expect(installing).rejects.toThrow(/could not be installed \(npm ci .*\):\n[\s\S]*npm error/);
  });
});
