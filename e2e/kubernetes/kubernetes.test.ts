import { copyFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Deployment } from '../harness/control-plane.ts';
import { copyProject } from '../harness/official-cli.ts';
import { PROBE_PROJECT } from '../harness/platform.ts';
import { type ChartService, listServices } from './chart-services.ts';
import { type Images, prepareImages } from './images.ts';
import {
  createAdministratorKey,
  createNamespace,
  labelsOf,
  makeValues,
  openNodePort,
  removeNamespaces,
  runHelm,
  selectorOf,
  type Values,
} from './installation.ts';
import { isReady, listPods, NAMESPACE } from './kubectl.ts';
import { Platform } from './platform.ts';
import { startServers, type TestServers } from './servers.ts';
import { createVolumes, removeVolumes } from './volumes.ts';

const host = process.env.RUNYARD_TEST_NODE_ADDRESS ?? '';

let services: ChartService[];
let images: Images;
let servers: TestServers;
let values: Values;
let project: Awaited<ReturnType<typeof copyProject>>;
let platform: Platform;
let deployment: Deployment;

beforeAll(async () => {
  const chart = await listServices();
  services = chart.services;
  await removeNamespaces();
  [images, servers, project] = await Promise.all([
    prepareImages(services.map(({ name }) => name)),
    startServers(host),
    copyProject('deployed'),
  ]);
  await copyFile(path.join(PROBE_PROJECT, 'graphs/slow.ts'), path.join(project.folder, 'slow.ts'));
  const graphs = { greeter: './greeter.ts:graph', slow: './slow.ts:graph' };
  await writeFile(path.join(project.folder, 'langgraph.json'), JSON.stringify({ node_version: '20', graphs }));
  await createNamespace(NAMESPACE);
  const claims = services.reduce((sum, { claims }) => sum + claims, chart.sharedClaims);
  await createVolumes(claims, imageOf('gateway'));
  const nodePort = await openNodePort(NAMESPACE, labelsOf('gateway'));
  values = await makeValues({ host, nodePort, services, images, servers });
});
afterAll(async () => {
  await project?.remove();
  if (images) await removeVolumes(imageOf('gateway')).catch(() => undefined);
  await removeNamespaces();
  await servers?.stop();
  await images?.remove();
});

const imageOf = (service: string) => `${images.registry}/${service}:${images.tag}`;

const greet = async (of = deployment, name = 'ada'): Promise<string> => {
  const state = await platform.client(of).runs.wait(null, 'greeter', { input: { name } });
  return (state as { text: string }).text;
};

it('the chart installs the platform, and each service has its pods, which are ready', async () => {
  await runHelm('install', values);
  for (const { name, replicas } of services) {
    const pods = await listPods(NAMESPACE, selectorOf(name));
    expect.soft({ name, ready: pods.filter(isReady).length }).toEqual({ name, ready: replicas });
  }
});

it('the notes of the chart make the key with which an image of this machine is deployed through the gateway', async () => {
  platform = new Platform(values.publicUrl as string, await createAdministratorKey());
  const words = ['deploy', '--no-remote', '--no-input', '--name', 'boxed', '--base-image', images.base];
  await platform.runyard(words, project.folder);
  deployment = await platform.find('boxed');
  expect(await greet()).toBe('hello ada');
});

it('the official SDK streams a run of it', async () => {
  const chunks: unknown[] = [];
  const input = { steps: 3, stepMs: 100, name: 'streamed' };
  for await (const { event, data } of platform.client(deployment).runs.stream(null, 'slow', { input })) {
    if (event === 'values') chunks.push((data as { steps: number }).steps);
  }
  expect(chunks).toEqual([3, 2, 1, 0]);
});
