import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { InterruptedError } from '../src/cli-error.ts';
import { folderWith, projectFolder, removeFolders, runyard } from './support/command.ts';

afterAll(removeFolders);

/** A fake launcher: records its arguments, and exits with 7 when it is told to stop. */
const LAUNCHER = `
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
const args = process.argv.slice(2);
process.on('SIGINT', () => process.exit(7));
writeFileSync(join(args[args.indexOf('--data-dir') + 1], 'args.json'), JSON.stringify(args));
setInterval(() => {}, 1000);
`;

it.each([
  ['a checkout', 'infra/bootstrap.mjs', ['start']],
  ['a package', 'infra/launcher/dist/main.js', []],
])('dev runs the platform of %s with the project, and ends when that has stopped', async (_, program, words) => {
  const home = folderWith('runyard', { [program]: LAUNCHER, 'package.json': '{"type": "module"}' });
  const project = projectFolder('agent');
  const dataDir = join(project, '.runyard');
  const controller = new AbortController();
  const flags = [
    '--port',
    '0',
    '--auth',
    '--origin',
    'https://a.example',
    '--origin',
    'https://b.example',
    '--no-reload',
  ];
  const running = runyard(['dev', ...flags], {
    cwd: project,
    env: { RUNYARD_HOME: home },
    interrupted: controller.signal,
  });
  await expect.poll(() => existsSync(join(dataDir, 'args.json')), { interval: 10 }).toBe(true);
  controller.abort(new InterruptedError('SIGINT'));
  expect(await running).toMatchObject({ exitCode: 7, err: '' });
  expect(JSON.parse(readFileSync(join(dataDir, 'args.json'), 'utf8'))).toEqual([
    ...words,
    '--project',
    project,
    '--port',
    '0',
    '--host',
    '127.0.0.1',
    '--data-dir',
    dataDir,
    '--auth',
    '--no-reload',
    '--origin',
    'https://a.example',
    '--origin',
    'https://b.example',
  ]);
  // The data folder is neither committed nor deployed.
  expect(readFileSync(join(dataDir, '.gitignore'), 'utf8')).toBe('*\n');
});

it('dev explains what it needs where there is no platform, or no project', async () => {
  const nowhere = folderWith('elsewhere', {});
  expect(await runyard(['dev'], { cwd: projectFolder('agent'), env: { RUNYARD_HOME: nowhere } })).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining('where no Runyard is'),
  });
  expect((await runyard(['dev'], { cwd: nowhere })).err).toContain('has no langgraph.json');
});
