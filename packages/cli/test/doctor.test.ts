import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { folderWith, projectFolder, removeFolders, runyard } from './support/command.ts';

afterAll(removeFolders);

/** A fake launcher: records its arguments beside itself, and says that something is missing. */
const LAUNCHER = `
import { writeFileSync } from 'node:fs';
writeFileSync(new URL('args.json', import.meta.url), JSON.stringify(process.argv.slice(2)));
process.exit(1);
`;
/** The program of a checkout that installs and builds. */
const BOOTSTRAP = 'process.exit(9);';

it('doctor asks the launcher that dev would start, builds nothing before, and makes no data folder', async () => {
  const home = folderWith('runyard', {
    'infra/bootstrap.mjs': BOOTSTRAP,
    'infra/launcher/dist/main.js': LAUNCHER,
    'package.json': '{"type": "module"}',
  });
  const cwd = projectFolder('agent');
  const before = readdirSync(cwd);
  const flags = ['--port', '0', '--kafka', '--json'];
  expect(await runyard(['doctor', ...flags], { cwd, env: { RUNYARD_HOME: home } })).toMatchObject({
    exitCode: 1,
    err: '',
  });
  expect(JSON.parse(readFileSync(join(home, 'infra/launcher/dist/args.json'), 'utf8'))).toEqual([
    'doctor',
    ...['--project', cwd, '--port', '0', '--host', '127.0.0.1', '--data-dir', join(cwd, '.runyard')],
    ...['--kafka', '--json'],
  ]);
  expect(readdirSync(cwd)).toEqual(before);
});

it('doctor says what to do where a checkout was never built, and where there is none', async () => {
  const home = folderWith('runyard', { 'infra/bootstrap.mjs': BOOTSTRAP });
  expect(await runyard(['doctor'], { env: { RUNYARD_HOME: home } })).toMatchObject({
    exitCode: 1,
    err: expect.stringContaining('was never built: `runyard dev` does it'),
  });
  const nowhere = folderWith('elsewhere', {});
  expect((await runyard(['doctor'], { env: { RUNYARD_HOME: nowhere } })).exitCode).toBe(2);
  expect(existsSync(join(nowhere, '.runyard'))).toBe(false);
});
