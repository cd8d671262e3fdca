import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Platform } from '../harness/remote-platform.ts';
import { createNamespace, openNodePort } from './installation.ts';
import { apply, KUBECTL, REMOTE, runKubectl, runProgram } from './kubectl.ts';
import type { TestServers } from './servers.ts';

const RIGHTS = path.resolve(import.meta.dirname, '../../infra/kubernetes/data-plane-rbac.yaml');

export interface RemoteOptions {
  /** The address of the node. */
  host: string;
  imageOf: (service: string) => string;
  servers: TestServers;
  platform: Platform;
  listener: { id: string };
  /** The key of the listener. */
  listenerKey: string;
}

/** Runs a data plane of a listener and the gateway beside it, in a namespace of their own, with the documented rights. */
export async function startRemoteDataPlane(options: RemoteOptions): Promise<void> {
  const { host, imageOf, servers, platform, listener, listenerKey } = options;
  await createNamespace(REMOTE);
  const rights = (await readFile(RIGHTS, 'utf8')).replaceAll(/namespace: (runyard|agents)$/gm, `namespace: ${REMOTE}`);
  await runProgram(KUBECTL, ['apply', '-f', '-'], rights);
  const nodePort = await openNodePort(REMOTE, { app: 'gateway' });
  const address = `http://data-plane.${REMOTE}.svc:8000`;
  const shared = {
    INTERNAL_TOKEN: randomBytes(32).toString('hex'),
    EVENT_BUS: 'redis',
    EVENT_BUS_REDIS_URI: servers.redis.url,
    TOPIC_PREFIX: 'remote.',
  };
  const dataPlane = {
    ...shared,
    CONTROL_PLANE_URL: platform.url,
    LISTENER_ID: listener.id,
    LISTENER_KEY: listenerKey,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: '/data',
    DATA_POSTGRES_URI: await servers.createDeploymentsRole('remote'),
    DATA_REDIS_URI: servers.redis.url,
    DRIVER: 'kubernetes',
    KUBERNETES_NAMESPACE: REMOTE,
    PUBLIC_URL: `http://${host}:${nodePort}`,
    PLATFORM_JWKS_URL: `${address}/.well-known/jwks.json`,
  };
  const gateway = { ...shared, ORG_ACCESS_URL: address, CONTROL_PLANE_URL: address, ROUTES_REFRESH_SECONDS: '1' };
  await apply(
    ...describe('data-plane', imageOf('data-plane'), dataPlane),
    ...describe('gateway', imageOf('gateway'), gateway),
  );
  for (const name of ['data-plane', 'gateway']) {
    await runKubectl('rollout', 'status', `deployment/${name}`, '--namespace', REMOTE, '--timeout=180s');
  }
}

/** Returns the objects of one service: a pod, its variables and its address. */
function describe(name: string, image: string, variables: Record<string, string>): object[] {
  const metadata = { name, namespace: REMOTE };
  const labels = { app: name };
  const pod = {
    ...(name === 'data-plane' && { serviceAccountName: 'data-plane' }),
    securityContext: { runAsUser: 1000, fsGroup: 1000 },
    containers: [
      {
        name,
        image,
        imagePullPolicy: 'IfNotPresent',
        envFrom: [{ secretRef: { name } }],
        readinessProbe: { httpGet: { path: '/ok?check_db=1', port: 8000 }, periodSeconds: 2 },
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      },
    ],
    volumes: [{ name: 'data', emptyDir: {} }],
  };
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata, stringData: variables },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports: [{ port: 8000 }] } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } },
    },
  ];
}
