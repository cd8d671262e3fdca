import { copyFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { PushToken } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import { request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Deployment } from '../harness/control-plane.ts';
import { copyProject } from '../harness/official-cli.ts';
import { PROBE_PROJECT } from '../harness/platform.ts';
import { Platform } from '../harness/remote-platform.ts';
import { readChart } from './chart-services.ts';
import { beginBuild, canConnectFrom, type HostileOutcome, runHostileBuild, runInPod } from './hostile-build.ts';
import { type Images, prepareImages, pushImage, removePushedImages } from './images.ts';
import {
  addressOf,
  createAdministratorKey,
  createNamespace,
  labelsOf,
  listReleaseObjects,
  makeValues,
  openNodePort,
  removeNamespaces,
  rollBack,
  runHelm,
  scale,
  selectorOf,
  uninstall,
  type Values,
} from './installation.ts';
import { AGENTS, evict, isReady, kill, list, listPods, NAMESPACE, REMOTE, runKubectl, waitForPods } from './kubectl.ts';
import { underLoad } from './load.ts';
import { startRemoteDataPlane } from './remote-data-plane.ts';
import { startServers, type TestServers } from './servers.ts';
import { createVolumes, removeVolumes } from './volumes.ts';

const host = process.env.RUNYARD_TEST_NODE_ADDRESS ?? '';
const { services, sharedClaims, migrations } = await readChart();

let images: Images;
let servers: TestServers;
let values: Values;
let project: Awaited<ReturnType<typeof copyProject>>;
let platform: Platform;
let deployment: Deployment;
let namesOfServers: string[];
let hostile: HostileOutcome;

/**
 * The metadata of a cloud's machine, and a service that a builder does not call. Policies do not hold for the node,
 * where the cluster's API and the servers of the tests are.
 */
const NOT_FOR_BUILDS = [{ host: '169.254.169.254', port: 80 }, addressOf('org-access')];
const ANSWERS_BUILDS = addressOf('control-plane');

beforeAll(async () => {
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
  const claims = services.reduce((sum, { claims }) => sum + claims, sharedClaims);
  await createVolumes(claims, imageOf('gateway'));
  const nodePort = await openNodePort(NAMESPACE, labelsOf('gateway'));
  values = await makeValues({ host, nodePort, services, images, servers });
  namesOfServers = await servers.listNames();
});
afterAll(async () => {
  await project?.remove();
  if (images) await removeVolumes(imageOf('gateway')).catch(() => undefined);
  await removeNamespaces();
  await servers?.stop();
  if (values) await removePushedImages(values.registryUrl as string);
  await images?.remove();
});

const imageOf = (service: string) => `${images.registry}/${service}:${images.tag}`;

async function greet(of = deployment): Promise<string> {
  const state = await platform.client(of).runs.wait(null, 'greeter', { input: { name: 'ada' } });
  return (state as { text: string }).text;
}

/** Fails with the first failures, of which the first tells most, and prints why gateways that still run refused any. */
async function expectNoFailure({ succeeded, failures }: Awaited<ReturnType<typeof underLoad>>): Promise<void> {
  if (failures.length > 0) {
    const words = ['--namespace', NAMESPACE, '--selector', selectorOf('gateway'), '--prefix', '--tail=-1'];
    const lines = (await runKubectl('logs', ...words)).split('\n');
    console.log(lines.filter((line) => line.includes('"status":50')).join('\n'));
  }
  expect(failures.slice(0, 5)).toEqual([]);
  expect(succeeded).toBeGreaterThan(50);
}

const podsOf = (part: string, { id } = deployment) => ({
  namespace: AGENTS,
  selector: `io.runyard.deployment=${id},io.runyard.part=${part}`,
});

/** Begins a run that goes on for some seconds; returns what waits for its result. */
async function beginRun(): Promise<() => Promise<unknown>> {
  const client = platform.client(deployment);
  const { thread_id: thread } = await client.threads.create();
  const run = await client.runs.create(thread, 'slow', { input: { steps: 10, stepMs: 500, name: 'long' } });
  return () => client.runs.join(thread, run.run_id);
}

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

it('the console has a host name of its own at the gateway, and leads people to the sign-in of the platform', async () => {
  const { consoleUrl, publicUrl } = values as Record<'consoleUrl' | 'publicUrl', string>;
  const ask = (path: string) => request(publicUrl + path, { headers: { host: new URL(consoleUrl).host } });
  const page = await ask('/');
  expect(page.statusCode).toBe(200);
  expect(await page.body.text()).toContain('<title>Runyard</title>');
  const { statusCode, headers, body } = await ask('/auth/start');
  await body.dump();
  expect([statusCode, String(headers.location).split('?')[0]]).toEqual([303, `${publicUrl}/auth/console`]);
});

it('the official SDK streams a run of it', async () => {
  const left: unknown[] = [];
  const input = { steps: 3, stepMs: 100, name: 'streamed' };
  for await (const { event, data } of platform.client(deployment).runs.stream(null, 'slow', { input })) {
    if (event === 'values') left.push((data as { steps: number }).steps);
  }
  expect(left).toEqual([3, 2, 1, 0]);
});

it('an upgrade migrates every database first, replaces all pods, and fails no request', async () => {
  const source = { source: 'internal_docker', source_config: {}, source_revision_config: {} };
  const base = await platform.call<Deployment>('POST', '/deployments', { name: 'base', ...source });
  const token = await platform.call<PushToken>('POST', `/deployments/${base.id}/push-token`);
  const change = {
    deployments: { baseImage: await pushImage(images.base, token) },
    services: Object.fromEntries(services.map(({ valuesKey }) => [valuesKey, { env: { UPGRADED: 1 } }])),
  };
  const before = await listPods(NAMESPACE, 'app.kubernetes.io/component');
  await expectNoFailure(await underLoad(greet, () => runHelm('upgrade', change)));
  for (const { name, replicas } of services) {
    const place = { namespace: NAMESPACE, selector: selectorOf(name) };
    await waitForPods(place, replicas, before);
  }
  const completed = ['--namespace', NAMESPACE, '--field-selector', 'involvedObject.kind=Job,reason=Completed'];
  const events = await runKubectl('get', 'events', ...completed, '--output=jsonpath={.items[*].involvedObject.name}');
  expect(events.split(' ').sort()).toEqual([...migrations].sort());
});

it('a project is built in the cluster, on a base image of the registry of the platform, and runs', async () => {
  await platform.runyard(['deploy', '--remote', '--no-input', '--name', 'built'], project.folder);
  const built = await platform.find('built');
  expect(await greet(built)).toBe('hello ada');
  await platform.delete(built);
});

it('a build reads nothing of its builder or of another build in its pod, and leaves no process and no file', async () => {
  const [builder] = await scale('builder', 1);
  const victim = await beginBuild(platform, builder!, 'secret of another build');
  const forbidden = {
    EACCES: [
      '/proc/1/environ',
      '/root',
      '/data/projects',
      '/data/git',
      victim.folder,
      `${victim.folder}/secret.txt`,
      `/data/build-caches/${victim.id}`,
    ],
    ENOENT: ['/var/run/secrets/kubernetes.io'],
  };
  const leftovers = ['/tmp/left-by-a-build', '/dev/shm/left-by-a-build'];
  const addresses = [...NOT_FOR_BUILDS, ANSWERS_BUILDS].map(({ host, port }) => `${host} ${port}`);
  const target = { paths: Object.values(forbidden).flat(), addresses, leftovers, sleepSeconds: 8613 };
  hostile = await runHostileBuild(platform, target);
  const codes = Object.entries(forbidden).flatMap(([code, paths]) => paths.map((path) => [path, code]));
  expect.soft(hostile.paths).toEqual(Object.fromEntries(codes));
  expect.soft(hostile.variables).toContain('HOME');
  expect.soft(hostile.variables).not.toContain('REDIS_URI');
  expect.soft(hostile.left).toEqual(leftovers);
  const commands = await runInPod(builder!, `cat /proc/[0-9]*/cmdline | tr '\\0' ' '`);
  expect.soft(commands).toContain('sleep 3600');
  expect.soft(commands).not.toContain('sleep 8613');
  expect.soft(await runInPod(builder!, 'find /tmp /dev/shm -name "left-by-*"')).toBe('');
  for (const name of ['victim', 'hostile']) await platform.delete(await platform.find(name));
  await scale('builder', services.find(({ name }) => name === 'builder')!.replicas);
});

it('a build reaches no metadata address and no server that its builder does not need, where policies are enforced', async () => {
  const [registry] = await listPods(NAMESPACE, selectorOf('registry'));
  const isEnforced = !(await canConnectFrom(registry!, addressOf('org-access')));
  const reached = NOT_FOR_BUILDS.filter(({ host, port }) => hostile.addresses[`${host} ${port}`]);
  if (!isEnforced) console.log('the network of this cluster enforces no policies, a build reached:', reached);
  expect(hostile.addresses[`${ANSWERS_BUILDS.host} ${ANSWERS_BUILDS.port}`]).toBe(true);
  if (isEnforced) expect(reached).toEqual([]);
});

it('a deployment is rolled out and back under load, and no request fails', async () => {
  const outcome = await underLoad(greet, async () => {
    const first = deployment.latest_revision_id;
    await platform.call('PATCH', `/deployments/${deployment.id}`, { secrets: [{ name: 'MARK', value: 'again' }] });
    await platform.waitUntilDeployed(deployment);
    expect(await greet()).toBe('hello ada again');
    await platform.call('POST', `/deployments/${deployment.id}/revisions/${first}/redeploy`);
    await platform.waitUntilDeployed(deployment);
    expect(await greet()).toBe('hello ada');
  });
  await expectNoFailure(outcome);
});

/** Deploys a revision with these resources, and waits for its servers. */
async function deployWith(resource_spec: { min_scale: number; max_scale: number; queue_max_scale: number }) {
  await platform.call('PATCH', `/deployments/${deployment.id}`, { source_config: { resource_spec } });
  await platform.waitUntilDeployed(deployment);
  await waitForPods(podsOf('agent-api'), resource_spec.min_scale);
}

it('a deployment has as many servers as its resources say, and workers are added while runs wait', async () => {
  await deployWith({ min_scale: 2, max_scale: 2, queue_max_scale: 3 });
  const client = platform.client(deployment);
  const input = { steps: 20, stepMs: 1_000, name: 'waiting' };
  const threads = await Promise.all(Array.from({ length: 40 }, () => client.threads.create()));
  const runs = await Promise.all(threads.map(({ thread_id }) => client.runs.create(thread_id, 'slow', { input })));
  await waitForPods(podsOf('run-worker'), 3);
  await Promise.all(runs.map(({ thread_id, run_id }) => client.runs.join(thread_id, run_id)));
});

it('a revision that may have fewer workers begins with fewer', async () => {
  await deployWith({ min_scale: 2, max_scale: 2, queue_max_scale: 1 });
  await waitForPods(podsOf('run-worker'), 1);
});

it.each(services)(
  'a killed pod of $name is replaced, and a run that was in flight ends well',
  async ({ name, replicas }) => {
    const place = { namespace: NAMESPACE, selector: selectorOf(name) };
    const [pod] = await waitForPods(place, replicas);
    const result = await beginRun();
    await kill(pod!);
    await waitForPods(place, replicas, [pod!]);
    expect(await result()).toMatchObject({ steps: 0 });
    expect(await greet()).toBe('hello ada');
  },
);

it.each([
  ['agent-api', 2],
  ['run-worker', 1],
])('a killed pod of %s of a deployment is replaced, and its runs go on', async (part, replicas) => {
  const [pod] = await waitForPods(podsOf(part), replicas);
  const result = await beginRun();
  await kill(pod!);
  await waitForPods(podsOf(part), replicas, [pod!]);
  expect(await result()).toMatchObject({ steps: 0 });
  expect(await greet()).toBe('hello ada');
});

it('a drain evicts one pod of a service or a deployment at a time, and no request fails', async () => {
  const several = services.filter(({ replicas }) => replicas > 1);
  const places = [
    ...several.map(({ name, replicas }) => ({ namespace: NAMESPACE, selector: selectorOf(name), replicas })),
    { ...podsOf('agent-api'), replicas: 2 },
  ];
  const outcome = await underLoad(greet, async () => {
    for (const { replicas, ...place } of places) {
      const [first, second] = await waitForPods(place, replicas);
      expect.soft([place.selector, await evict(first!), await evict(second!)]).toEqual([place.selector, true, false]);
      await waitForPods(place, replicas, [first!]);
    }
  });
  await expectNoFailure(outcome);
});

it('a data plane of a listener runs an image, with the rights that the manifest gives it', async () => {
  const compute = { compute_type: 'k8s', compute_id: 'test', compute_config: { k8s_namespaces: [REMOTE] } };
  const listener = await platform.call<{ id: string }>('POST', '/listeners', compute);
  const { key } = await platform.call<{ key: string }>('POST', `/listeners/${listener.id}/keys`);
  await startRemoteDataPlane({ host, imageOf, servers, platform, listener, listenerKey: key });
  const source = { source: 'internal_docker', source_config: { listener_id: listener.id }, source_revision_config: {} };
  await platform.call('POST', '/deployments', { name: 'remote', ...source });
  const words = ['deploy', '--no-remote', '--no-input', '--name', 'remote', '--base-image', images.base];
  await platform.runyard(words, project.folder);
  const remote = await platform.find('remote');
  expect(await listPods(REMOTE, `io.runyard.deployment=${remote.id}`)).toHaveLength(2);
  await waitFor(async () => (await greet(remote)) === 'hello ada', { what: 'a route at the gateway of the listener' });
  await platform.delete(remote);
  await platform.call('DELETE', `/listeners/${listener.id}`);
});

it('a rollback of the release works on the databases as they are, and fails no request', async () => {
  await expectNoFailure(await underLoad(greet, rollBack));
  expect(await greet()).toBe('hello ada');
});

it('once deployments are deleted and the release is uninstalled, nothing of them is left', async () => {
  await platform.delete(deployment);
  await platform.delete(await platform.find('base'));
  expect(await list('pods,deployments,services,secrets,poddisruptionbudgets', '--namespace', AGENTS)).toEqual([]);
  expect(await servers.listNames()).toEqual([...namesOfServers, 'remote'].sort());
  await uninstall();
  expect(await listReleaseObjects()).toEqual([]);
  expect((await list('namespaces')).map(({ metadata }) => metadata.name)).not.toContain(AGENTS);
});
