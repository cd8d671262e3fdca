// Writes the package `runyard` as `npm publish` would send it: `npm run pack -- [--out DIR]`.
//
// The package has the built files of this checkout in their own places below `dist`, so that each finds the others
// by the paths that it has here. What bundles do not contain are its dependencies.
import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { installed, repository, run, StepError } from '../bootstrap/steps.mjs';
import { ifAbsent } from './if-absent.mjs';

const folder = join(repository, 'packages/runyard');
const { name, version, dependencies } = await readJson('packages/runyard/package.json');

/** Left out of the package: what the drivers of clusters load. Whoever runs a cluster has images. */
const ELSEWHERE = new Set(['@kubernetes/client-node']);

const { values } = parseArgs({ options: { out: { type: 'string', default: '.' } } });
const out = resolve(process.env.INIT_CWD ?? process.cwd(), values.out);
await mkdir(out, { recursive: true });
await rm(join(folder, 'dist'), { recursive: true, force: true });
const shared = await readJson('infra/platform-services/package.json');
const services = await readdir(join(repository, 'services'));
const bundles = [
  // The others are in the bundle of those that share a process.
  ...services.filter((each) => !shared.dependencies[`@runyard/${each}`]).map((each) => `services/${each}`),
  ...['infra/platform-services', 'infra/agent-services', 'infra/launcher', 'packages/cli'],
];
await requireDependencies(bundles);
const places = [
  ...bundles.map((place) => `${place}/dist`),
  // Pages are in no bundle: the console finds them beside its own.
  'services/console/dist/web',
  ...services.map((service) => `services/${service}/prisma/migrations`),
  ...['infra/local/package.json', 'infra/local/kafka'],
];
for (const place of places) {
  const copying = cp(join(repository, place), join(folder, 'dist', place), { recursive: true });
  // Not every service has a database.
  await (place.endsWith('migrations') ? copying.catch(ifAbsent()) : copying);
}
await run('Packing', installed('pnpm'), ['--dir', folder, 'pack', '--pack-destination', out], { quiet: true });
process.stdout.write(`${join(out, `${name}-${version}.tgz`)}\n`);

async function readJson(path) {
  return JSON.parse(await readFile(join(repository, path), 'utf8'));
}

/** @throws StepError when a bundle leaves a package out that the published one does not depend on */
async function requireDependencies(packages) {
  for (const each of packages) {
    const { external = [] } = await readJson(`${each}/build.config.json`).catch(ifAbsent({}));
    for (const needed of external)
      if (!dependencies[needed] && !ELSEWHERE.has(needed))
        throw new StepError(`${each} needs ${needed}, which packages/runyard/package.json does not depend on.`);
  }
}
