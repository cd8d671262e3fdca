// Writes the package `runyard` as `npm publish` would send it: `npm run pack -- [--out DIR]`.
//
// The package has the built files of this checkout in their own places below `dist`, so that each finds the others
// by the paths that it has here. What bundles do not contain are its dependencies.
import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { installed, repository, run, StepError } from '../bootstrap/steps.mjs';

const folder = join(repository, 'packages/runyard');

/** Left out of the package: what the drivers of clusters load. Whoever runs a cluster has images. */
const ELSEWHERE = new Set(['@kubernetes/client-node']);

const { values } = parseArgs({ options: { out: { type: 'string', default: '.' } } });
const out = resolve(process.env.INIT_CWD ?? process.cwd(), values.out);
await mkdir(out, { recursive: true });
await rm(join(folder, 'dist'), { recursive: true, force: true });
const shared = JSON.parse(await readFile(join(repository, 'infra/platform-services/package.json'), 'utf8'));
const services = await readdir(join(repository, 'services'));
const bundles = [
  // The others are in the bundle of those that share a process.
  ...services.filter((name) => !shared.dependencies[`@runyard/${name}`]).map((name) => `services/${name}`),
  ...['infra/platform-services', 'infra/launcher', 'packages/cli'],
];
await requireDependencies(bundles);
const places = [
  ...bundles.map((place) => `${place}/dist`),
  ...services.map((service) => `services/${service}/prisma/migrations`),
  ...['infra/local/package.json', 'infra/local/kafka'],
];
for (const place of places) {
  await cp(join(repository, place), join(folder, 'dist', place), { recursive: true }).catch((error) => {
    if (error.code !== 'ENOENT' || !place.endsWith('migrations')) throw error;
  });
}
await run('Packing', installed('pnpm'), ['--dir', folder, 'pack', '--pack-destination', out], { quiet: true });
process.stdout.write(`${join(out, await tarballName())}\n`);

async function tarballName() {
  const { name, version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  return `${name}-${version}.tgz`;
}

/** @throws StepError when a bundle leaves a package out that the published one does not depend on */
async function requireDependencies(packages) {
  const { dependencies } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  for (const name of packages) {
    const config = await readFile(join(repository, name, 'build.config.json'), 'utf8').catch(() => '{}');
    for (const external of JSON.parse(config).external ?? [])
      if (!dependencies[external] && !ELSEWHERE.has(external))
        throw new StepError(`${name} needs ${external}, which packages/runyard/package.json does not depend on.`);
  }
}
