import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { verdictOf } from '../bootstrap/audit.mjs';

const repository = join(import.meta.dirname, '../..');
const pnpm = (args: string[], cwd = repository) =>
  promisify(execFile)(join(repository, 'node_modules/.bin/pnpm'), args, { cwd, maxBuffer: 64 * 1024 * 1024 });
const textOf = (path: string) => readFileSync(join(repository, path), 'utf8');

/** Licences that require nothing but their text. */
const LICENCES = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MIT and ISC',
  'Python-2.0',
  'Unlicense',
]);
/** Packages that are passed on unchanged, under licences that require the source of changes or a name. */
const EXCEPTIONS: Record<string, RegExp> = {
  'CC-BY-4.0': /^caniuse-lite$/,
  'EPL-2.0': /^elkjs$/,
  'MPL-2.0': /^lightningcss(-.+)?$/,
};

it('every package that production needs has a licence that is allowed', async () => {
  const shipped = [
    'agent-api',
    'cli',
    'builder',
    'console',
    'control-plane',
    'data-plane',
    'gateway',
    'oauth-broker',
    'org-access',
    'registry',
    'run-history',
    'run-worker',
  ];
  const filters = shipped.map((name) => `--filter-prod=@runyard/${name}...`);
  const { stdout } = await pnpm([...filters, 'licenses', 'list', '--prod', '--json']);
  const byLicence = Object.entries(JSON.parse(stdout) as Record<string, { name: string }[]>);
  const names = byLicence.flatMap(([, packages]) => packages.map(({ name }) => name));
  expect(names).toEqual(expect.arrayContaining(['express', 'kafkajs', 'pg', 'react', 'tailwindcss']));
  const refused = byLicence.flatMap(([licence, packages]) =>
    packages
      .filter(({ name }) => !LICENCES.has(licence) && !EXCEPTIONS[licence]?.test(name))
      .map(({ name }) => `${name}: ${licence}`),
  );
  expect(refused).toEqual([]);
});

it('every dependency has one version, and every package of the lock file a digest', () => {
  const exact = /^(\d+\.\d+\.\d+(-[\w.]+)?|workspace:\*|catalog:|npm:(@[\w-]+\/)?[\w-]+@\d+\.\d+\.\d+)$/;
  const manifests = ['services', 'hosts', 'packages', 'infra'].flatMap((folder) =>
    readdirSync(join(repository, folder)).map((name) => `${folder}/${name}/package.json`),
  );
  const ranges = ['package.json', 'e2e/package.json', 'bench/package.json', ...manifests].flatMap((path) => {
    if (!existsSync(join(repository, path))) return [];
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(textOf(path));
    return Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies } as Record<string, string>)
      .filter(([, version]) => !exact.test(version))
      .map(([name, version]) => `${path}: ${name} ${version}`);
  });
  expect(ranges).toEqual([]);
  const catalog = textOf('pnpm-workspace.yaml').split(/^catalog:\n/m)[1]!;
  expect([...catalog.matchAll(/^ {2}(\S+): (?!\d+\.\d+\.\d+$)(.*)$/gm)].map(([line]) => line)).toEqual([]);

  const resolutions = [...textOf('pnpm-lock.yaml').matchAll(/^ {4}resolution: (.*)$/gm)].map(([, value]) => value!);
  expect(resolutions.length).toBeGreaterThan(100);
  expect(resolutions.filter((value) => !/^\{integrity: sha512-[\w+/=]+\}$/.test(value))).toEqual([]);
});

it('a package that is not on the list of the workspace runs no install script', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-install-'));
  try {
    const settings = textOf('pnpm-workspace.yaml').replace(/^packages:\n( {2}- .*\n)+/, '');
    writeFileSync(join(folder, 'pnpm-workspace.yaml'), settings);
    const manifest = { name: 'own', version: '1.0.0', dependencies: { hostile: 'file:./hostile' } };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    const ran = join(folder, 'ran');
    const scripts = { postinstall: `node -e "fs.writeFileSync('${ran}', '')"` };
    mkdirSync(join(folder, 'hostile'));
    writeFileSync(join(folder, 'hostile/package.json'), JSON.stringify({ name: 'hostile', version: '1.0.0', scripts }));
    const install = () => pnpm(['install', '--offline', '--no-frozen-lockfile'], folder);
    await install();
    expect([existsSync(join(folder, 'node_modules/hostile')), existsSync(ran)]).toEqual([true, false]);
    // The script would run if it were allowed.
    for (const installed of ['node_modules', 'pnpm-lock.yaml']) rmSync(join(folder, installed), { recursive: true });
    writeFileSync(join(folder, 'pnpm-workspace.yaml'), 'dangerouslyAllowAllBuilds: true\n');
    await install();
    expect(existsSync(ran)).toBe(true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it.each([
  [0, 'No known vulnerabilities found', undefined],
  [0, '2 vulnerabilities found\nSeverity: 2 low', undefined],
  [1, '1 vulnerabilities found\nSeverity: 1 critical', /known vulnerabilities of severity high or critical/],
  [1, ' ERR_PNPM_AUDIT_BAD_RESPONSE  The audit endpoint responded with 405', /was not heard.*nothing is known.*405/],
  [null, 'killed', /was not heard.*killed/],
])('an audit that ends with %s and prints “%s” is not taken for a better one', (status, output, expected) => {
  const verdict = verdictOf(status, output);
  if (expected) expect(verdict).toMatch(expected);
  else expect(verdict).toBeUndefined();
});
