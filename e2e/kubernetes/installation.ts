import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { waitFor } from '@runyard/test-kit';
import { CHART, helm } from '../../infra/helm/test/helm.ts';
import type { ChartService } from './chart-services.ts';
import type { Images } from './images.ts';
import {
  AGENTS,
  apply,
  KUBECTL,
  LABEL,
  list,
  NAMESPACE,
  type Pod,
  REMOTE,
  runKubectl,
  runProgram,
  waitForPods,
} from './kubectl.ts';
import type { TestServers } from './servers.ts';
import { STORAGE_CLASS } from './volumes.ts';

const RELEASE = 'runyard';
const NODE_PORT_SERVICE = 'node-port';

/** Load is measured every few moments. */
const TIMES = { METRICS_SAMPLE_SECONDS: 2 };

/** Builds look for each other, in one pod. */
const SEVERAL_BUILDS = { CONCURRENT_BUILDS: 2 };

/** A node of a test is small, and may not count the space on its disk. */
const FEW_RESOURCES = { cpu: '10m', 'ephemeral-storage': '0' };

/** Values of Helm. */
export interface Values {
  [name: string]: unknown;
}

export const labelsOf = (component: string) => ({
  'app.kubernetes.io/instance': RELEASE,
  'app.kubernetes.io/component': component,
});

export const selectorOf = (component: string) =>
  Object.entries(labelsOf(component))
    .map(([name, value]) => `${name}=${value}`)
    .join(',');

/** Returns the address of a service in the cluster, as host and port. */
export const addressOf = (component: string) => ({ host: `${RELEASE}-${component}.${NAMESPACE}.svc`, port: 8000 });

/** Changes how many pods a Deployment of the release has, and waits until no others are left. */
export async function scale(component: string, replicas: number): Promise<Pod[]> {
  const name = `deployment/${RELEASE}-${component}`;
  await runKubectl('scale', name, '--namespace', NAMESPACE, `--replicas=${replicas}`);
  const place = { namespace: NAMESPACE, selector: selectorOf(component) };
  const listAll = () => list('pods', '--namespace', place.namespace, '--selector', place.selector);
  await waitFor(async () => (await listAll()).length === replicas, {
    what: `${replicas} pods of ${component}`,
    intervalMs: 500,
  });
  return waitForPods(place, replicas);
}

/** Makes a namespace that `removeNamespaces` removes. */
export async function createNamespace(name: string): Promise<void> {
  const [label = '', value] = LABEL.split('=');
  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { [label]: value } } });
}

/** Removes whatever a run of this suite has left, and waits until it is gone. */
export async function removeNamespaces(): Promise<void> {
  await runKubectl('delete', 'namespace', '--ignore-not-found', NAMESPACE, AGENTS, REMOTE);
  await runKubectl('delete', 'persistentvolumes', '--selector', LABEL);
}

/** Opens a port of the node for pods of a gateway; returns its number. */
export async function openNodePort(namespace: string, labels: Record<string, string>): Promise<number> {
  const metadata = { name: NODE_PORT_SERVICE, namespace };
  const ports = [{ port: 8000, targetPort: 8000 }];
  await apply({ apiVersion: 'v1', kind: 'Service', metadata, spec: { type: 'NodePort', selector: labels, ports } });
  const answer = '--output=jsonpath={.spec.ports[0].nodePort}';
  return Number(await runKubectl('get', 'service', NODE_PORT_SERVICE, '--namespace', namespace, answer));
}

export interface ValuesOptions {
  /** The address of the node, which is this machine. */
  host: string;
  nodePort: number;
  services: ChartService[];
  images: Images;
  servers: TestServers;
}

/** Returns the values of an installation on servers by their addresses, where pods may ask for little. */
export async function makeValues({ host, nodePort, services, images, servers }: ValuesOptions): Promise<Values> {
  const { redis, kafka } = servers;
  const database = async (name: string) => ({ uri: await servers.createDatabase(name) });
  const deployments = await servers.createDeploymentsRole('deployments');
  const apiPort = '--output=jsonpath={.ports[0].port}';
  const api = await runKubectl('get', 'endpointslice', 'kubernetes', '--namespace', 'default', apiPort);
  const portOf = (url: string) => ({ ports: [Number(new URL(url).port)] });
  return {
    image: { registry: images.registry, tag: images.tag },
    publicUrl: `http://${host}:${nodePort}`,
    // Browsers know this name as an address of the machine that they run on.
    consoleUrl: `http://console.localhost:${nodePort}`,
    // Image tools take plain HTTP from the loopback address alone.
    registryUrl: `http://127.0.0.1:${nodePort}`,
    keys: { keepOnUninstall: false },
    postgres: {
      controlPlane: await database('control_plane'),
      orgAccess: await database('org_access'),
      oauthBroker: await database('oauth_broker'),
      registry: await database('registry'),
      runHistory: await database('run_history'),
      deployments: { uri: deployments },
    },
    redis: { platform: { uri: redis.url }, deployments: { uri: redis.url }, builds: { uri: redis.buildsUrl } },
    kafka: {
      brokers: kafka.brokers.join(','),
      username: kafka.logins?.platform.username,
      password: { value: kafka.logins?.platform.password },
      deploymentsUsername: kafka.logins?.deployments.username,
      deploymentsPassword: { value: kafka.logins?.deployments.password },
    },
    storage: { volume: { storageClass: STORAGE_CLASS }, keepOnUninstall: false },
    deployments: { namespace: AGENTS },
    networkPolicy: {
      postgres: portOf(deployments),
      redis: portOf(redis.url),
      kafka: { ports: kafka.brokers.map((broker) => Number(broker.split(':')[1])) },
      kubernetesApi: { ports: [443, Number(api)] },
    },
    services: Object.fromEntries(
      services.map(({ name, valuesKey, claims }) => [
        valuesKey,
        {
          env: { ...TIMES, ...(name === 'builder' && SEVERAL_BUILDS) },
          resources: { requests: FEW_RESOURCES },
          ...(claims > 0 && { volume: { storageClass: STORAGE_CLASS } }),
        },
      ]),
    ),
  };
}

/** Runs `helm install` or `helm upgrade` with values over those before, and waits until all is ready. */
export async function runHelm(command: 'install' | 'upgrade', values: Values): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'runyard-values-'));
  try {
    const file = path.join(folder, `${randomBytes(4).toString('hex')}.json`);
    await writeFile(file, JSON.stringify(values), { mode: 0o600 });
    const reuse = command === 'upgrade' ? ['--reuse-values'] : [];
    const words = [...reuse, '--namespace', NAMESPACE, '--values', file, '--wait', '--timeout', '8m'];
    await helm(command, RELEASE, CHART, ...words);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Goes back to the values and images before the last upgrade. */
export async function rollBack(): Promise<void> {
  await helm('rollback', RELEASE, '--namespace', NAMESPACE, '--wait', '--timeout', '8m');
}

/** Runs `helm uninstall`, and waits until all is gone. */
export async function uninstall(): Promise<void> {
  // Helm waits for what the chart names alone. In the foreground, that is gone after the pods and claims it owns, which
  // may take as long as a gateway drains.
  const cascade = ['--cascade', 'foreground'];
  await helm('uninstall', RELEASE, '--namespace', NAMESPACE, ...cascade, '--wait', '--timeout', '5m');
}

/** Makes the administrator's key by the command that the chart's notes name. */
export async function createAdministratorKey(): Promise<string> {
  const notes = await helm('get', 'notes', RELEASE, '--namespace', NAMESPACE);
  const command = notes.slice(notes.indexOf('kubectl '));
  const answer = await runProgram('sh', ['-c', `kubectl() { ${KUBECTL} "$@"; }\n${command}`]);
  return (JSON.parse(answer) as { api_key: string }).api_key;
}

/** Returns what of the release is in the cluster, in all namespaces and outside of them. */
export async function listReleaseObjects(): Promise<string[]> {
  const kinds = (await runKubectl('api-resources', '--verbs=list', '--output=name'))
    .split('\n')
    .filter((kind) => !kind.startsWith('events') && !kind.includes('metrics'));
  const selector = `app.kubernetes.io/instance=${RELEASE}`;
  const found = await list(kinds.join(','), '--all-namespaces', '--selector', selector);
  return found.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
}
