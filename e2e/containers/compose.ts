import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@runyard/test-kit';
import { runDocker } from './engine.ts';

const repository = path.resolve(import.meta.dirname, '../..');
const PROJECT = 'runyard-test';
const SERVERS_IMAGE = 'runyard-test/servers:test';

/** The platform that the compose file starts, on servers that are built from packages. */
export interface Composition {
  url: string;
  /** Runs `docker compose` with this project and its files; returns what it prints. */
  compose(...args: string[]): Promise<string>;
  /** Removes containers, volumes, networks and the image of the servers. */
  remove(): Promise<void>;
}

/**
 * Prepares the compose file with fresh secrets and images that are built already. `projects` is the folder of projects
 * that may be deployed.
 */
export async function openComposition(imageOf: (service: string) => string, projects: string): Promise<Composition> {
  const folder = await mkdtemp(path.join(tmpdir(), 'runyard-compose-'));
  await buildServers(folder);
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const environment = path.join(folder, 'environment');
  const override = path.join(folder, 'override.json');
  await writeFile(environment, await fillEnvironment({ PORT: String(port), PUBLIC_URL: url, PROJECTS_DIR: projects }));
  await writeFile(override, JSON.stringify({ services: await overrideServices(imageOf) }));
  const files = ['infra/compose.yaml', override].flatMap((file) => ['--file', file]);
  const compose = (...args: string[]) =>
    runDocker('compose', '--project-name', PROJECT, ...files, '--env-file', environment, ...args);
  return {
    url,
    compose,
    async remove() {
      await compose('--profile', 'tools', 'down', '--volumes', '--timeout', '30');
      await runDocker('image', 'rm', SERVERS_IMAGE);
      await rm(folder, { recursive: true });
    },
  };
}

/** Returns the example with a secret in each of its empty variables whose name says that it is one. */
async function fillEnvironment(values: Record<string, string>): Promise<string> {
  const example = await readFile(path.join(repository, 'infra/compose/example.env'), 'utf8');
  const filled = example.replaceAll(/^(\w+(?:PASSWORD|TOKEN|KEY))=$/gm, (_, name: string) => {
    return `${name}=${randomBytes(32).toString('hex')}`;
  });
  return Object.entries(values).reduce(
    (text, [name, value]) => text.replace(new RegExp(`^${name}=.*$`, 'm'), `${name}=${value}`),
    filled,
  );
}

/** Names the built image of each service, and what takes the place of the hub's images. */
async function overrideServices(imageOf: (service: string) => string): Promise<Record<string, object>> {
  const text = await readFile(path.join(repository, 'infra/compose.yaml'), 'utf8');
  const built = [...text.matchAll(/^ {2}([\w-]+):\n(?: {4}.*\n)*? {4}build: .*services\/([\w-]+)\/Dockerfile/gm)];
  const services = built.map(([, name = '', service = '']) => [
    name,
    { image: imageOf(service), pull_policy: 'never' },
  ]);
  const servers = { image: SERVERS_IMAGE, pull_policy: 'never' };
  return {
    ...Object.fromEntries(services),
    postgres: { ...servers, entrypoint: ['start-postgres.sh'] },
    redis: servers,
    kafka: { ...servers, entrypoint: ['start-kafka.sh'] },
    'kafka-access': servers,
  };
}

async function buildServers(folder: string): Promise<void> {
  const context = path.join(folder, 'servers');
  await cp(path.join(import.meta.dirname, 'servers'), context, { recursive: true });
  const libraries = `-DoutputDirectory=${path.join(context, 'libraries')}`;
  await promisify(execFile)('mvn', ['--batch-mode', '--quiet', 'dependency:copy-dependencies', libraries], {
    cwd: context,
  });
  await runDocker('build', '--network', 'host', '--tag', SERVERS_IMAGE, context);
}
