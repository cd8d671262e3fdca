// The services' Dockerfiles run this: node infra/docker/build-services.mjs OUT
//
// It installs what the services need, builds them, and lays each out in OUT/SERVICE with what it takes to run and
// nothing else: its bundle and its pages, its migrations, and the few packages that cannot be inlined, in the versions of
// the lockfile. It does all of them at once: the stage that runs it is the same in each Dockerfile, so an engine builds
// it once for all images.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const [out] = process.argv.slice(2);
const services = readdirSync('services').filter((name) => existsSync(join('services', name, 'Dockerfile')));
const { packageManager } = readJson('package.json');

await run('.', 'npx', [
  '--yes',
  packageManager,
  'install',
  '--frozen-lockfile',
  '--workspace-root',
  ...services.map((service) => `--filter-prod=@runyard/${service}...`),
]);
// The services do not wait for each other: a machine with several cores makes them at the same time.
await Promise.all(
  services.map(async (service) => {
    const folder = join('services', service);
    await run(folder, 'node', ['../../infra/build/prisma-generate.mjs']);
    await run(folder, 'npm', ['run', '--silent', 'build']);
    layOut(folder, resolve(out, service));
  }),
);

function layOut(folder, target) {
  const { name, version, type } = readJson(folder, 'package.json');
  mkdirSync(target, { recursive: true });
  // Node reads only these fields: without `type` it would take the bundle for CommonJS.
  writeFileSync(join(target, 'package.json'), JSON.stringify({ name, version, type }, null, 2));
  cpSync(join(folder, 'dist'), join(target, 'dist'), { recursive: true });
  if (existsSync(join(folder, 'prisma/migrations'))) {
    cpSync(join(folder, 'prisma/migrations'), join(target, 'prisma/migrations'), { recursive: true });
  }
  const config = existsSync(join(folder, 'build.config.json')) ? readJson(folder, 'build.config.json') : {};
  for (const name of config.external ?? []) {
    copyPackage(join(folder, 'node_modules', name), join(target, 'node_modules'), { alias: name });
  }
}

/**
 * Copies a package and all it depends on, side by side; a second version of a package lies inside the dependent that
 * needs it. In pnpm's layout a package's dependencies lie beside it. `alias` is the name it is imported by, where that
 * is not its own.
 */
function copyPackage(link, target, { alias, dependent } = {}) {
  const source = realpathSync(link);
  const manifest = readJson(source, 'package.json');
  const { name, version, dependencies, optionalDependencies, bundledDependencies = [] } = manifest;
  const places = [target, ...(dependent ? [join(dependent, 'node_modules')] : [])].map((at) => join(at, alias ?? name));
  if (places.some((place) => versionAt(place) === version)) return;
  const copy = places.find((place) => !existsSync(place));
  if (!copy) throw new Error(`${name} ${version} is needed beside ${versionAt(places[0])}`);
  cpSync(source, copy, { recursive: true, dereference: true });
  const siblings = name.startsWith('@') ? dirname(dirname(source)) : dirname(source);
  for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies })) {
    // It lies inside of the package, and was copied with it.
    if (bundledDependencies.includes(dependency)) continue;
    const path = join(siblings, dependency);
    // An optional dependency for another platform is not installed.
    if (existsSync(path) || dependencies?.[dependency]) copyPackage(path, target, { dependent: copy });
  }
}

function versionAt(folder) {
  return existsSync(folder) ? readJson(folder, 'package.json').version : undefined;
}

async function run(cwd, command, args) {
  const [status, signal] = await once(spawn(command, args, { cwd, stdio: 'inherit' }), 'exit');
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} in ${cwd} ended with ${status ?? signal}`);
}

function readJson(...path) {
  return JSON.parse(readFileSync(join(...path), 'utf8'));
}
