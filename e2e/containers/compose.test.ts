import { readdirSync } from 'node:fs';
import path from 'node:path';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { copyProject } from '../harness/official-cli.ts';
import { Platform } from '../harness/remote-platform.ts';
import { type Composition, openComposition } from './compose.ts';
import { buildImages, listLeftovers, runDocker } from './engine.ts';

const repository = path.resolve(import.meta.dirname, '../..');
const services = readdirSync(path.join(repository, 'services'));
const tag = process.env.RUNYARD_TEST_IMAGE_TAG ?? 'test';
const REGISTRY = 'runyard-test';
const imageOf = (service: string) => `${REGISTRY}/${service}:${tag}`;

let before: Awaited<ReturnType<typeof listLeftovers>>;
let project: Awaited<ReturnType<typeof copyProject>>;
let composition: Composition;
let platform: Platform;

beforeAll(async () => {
  before = await listLeftovers();
  project = await copyProject('deployed');
});
afterAll(async () => {
  await composition?.remove().catch(() => undefined);
  await removeImages().catch(() => undefined);
  await project?.remove();
});

async function removeImages(): Promise<void> {
  if (process.env.RUNYARD_TEST_IMAGE_TAG === undefined) await runDocker('image', 'rm', ...services.map(imageOf));
}

async function greet(): Promise<string> {
  const client = platform.client(await platform.find('built'));
  return ((await client.runs.wait(null, 'greeter', { input: { name: 'ada' } })) as { text: string }).text;
}

it('an image of every service is built, with the labels of its checkout', async () => {
  if (process.env.RUNYARD_TEST_IMAGE_TAG === undefined) await buildImages(services, { registry: REGISTRY, tag });
  const labels = await Promise.all(
    services.map((service) => runDocker('image', 'inspect', '--format', '{{json .Config.Labels}}', imageOf(service))),
  );
  expect(labels.map((text) => JSON.parse(text))).toEqual(
    services.map((service) =>
      expect.objectContaining({
        'org.opencontainers.image.title': `Runyard ${service}`,
        'org.opencontainers.image.revision': expect.stringMatching(/^[0-9a-f]{40}/),
      }),
    ),
  );
});

it('the compose file starts the platform, with servers that ask for the passwords of its environment', async () => {
  composition = await openComposition(imageOf, project.folder);
  await composition.compose('up', '--detach', '--no-build');
  const isReady = async () => (await fetch(`${composition.url}/ok?check_db=1`)).ok;
  await waitFor(isReady, { what: 'a gateway that is ready', intervalMs: 500 });
  const answer = await composition.compose('run', '--rm', '--no-TTY', 'first-key');
  platform = new Platform(composition.url, (JSON.parse(answer) as { api_key: string }).api_key);
});

it('a project is built by its builder, and runs as a process of its data plane', async () => {
  await platform.runyard(['deploy', '--remote', '--no-input', '--name', 'built'], project.folder);
  expect(await greet()).toBe('hello ada');
});

it('a container of each service that is killed starts again, and the platform goes on', async () => {
  const running = (await composition.compose('ps', '--services')).split('\n');
  for (const service of services.filter((name) => running.includes(name))) {
    // Without its first process, which the engine would take for a stop that somebody wanted.
    await composition.compose('exec', '--no-TTY', '--user', 'root', service, 'sh', '-c', 'kill -9 -1').catch(() => '');
    await waitFor(async () => (await greet()) === 'hello ada', {
      what: `an answer after the end of ${service}`,
      intervalMs: 500,
    });
  }
});

it('once the deployment is deleted and the platform is down, no container, volume, image or network is left', async () => {
  await platform.delete(await platform.find('built'));
  await composition.remove();
  await removeImages();
  expect(await listLeftovers()).toEqual(before);
});
