import { createHash } from 'node:crypto';
import type { V1Container, V1PodTemplateSpec, V1Probe, V1ResourceRequirements } from '@kubernetes/client-node';
import type { ResourceSpec } from '@runyard/contracts';
import type { ImageArtifact, ReplicaRole } from '@runyard/deployments';
import { objectName } from '@runyard/deployments';
import type { RevisionSpec } from '../driver.ts';
import { labelsOf } from './labels.ts';
import { handoverVolumes, prepareContainer, secretsContainer, serviceCommand } from './secret-handover.ts';

export const PORT = 8000;
/** The user `node` of Node's images: no container runs as root. */
const USER = 1000;
/** Seconds that a server still answers after its pod was deleted, until all clients know that it left the route. */
const FOLLOW_SECONDS = 2;
/** Seconds beyond its grace in which a service closes its connections. */
const CLOSING_SECONDS = 10;
/** A start that takes longer is repeated. The roll-out limits a revision's whole start. */
const START_SECONDS = 300;

export interface PodOptions {
  role: ReplicaRole;
  image: ImageArtifact;
  graceSeconds: number;
  /** The content of the pod's Secrets: a change of it replaces the pods. */
  secretsContent: string;
  /** Names of the Secrets with which the image is pulled. */
  pullSecrets: string[];
}

/** Returns the template for pods of one service of a revision. It meets the Pod Security Standard `restricted`. */
export function podTemplate(spec: RevisionSpec, options: PodOptions): V1PodTemplateSpec {
  const { role, image, graceSeconds, secretsContent, pullSecrets } = options;
  const { imageUri, architecture } = image;
  const common = {
    image: imageUri,
    // A tag may move; a digest never does.
    imagePullPolicy: imageUri.includes('@') ? 'IfNotPresent' : 'Always',
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
  const { labels, annotations } = spec.resources;
  return {
    metadata: {
      labels: { ...labels, ...labelsOf(spec, role) },
      annotations: { ...annotations, 'io.runyard/secrets': createHash('sha256').update(secretsContent).digest('hex') },
    },
    spec: {
      // The project's code must not use the cluster's API.
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      ...(architecture !== undefined && { nodeSelector: { 'kubernetes.io/arch': architecture } }),
      imagePullSecrets: pullSecrets.map((name) => ({ name })),
      securityContext: {
        runAsNonRoot: true,
        runAsUser: USER,
        runAsGroup: USER,
        fsGroup: USER,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      terminationGracePeriodSeconds: Math.ceil(graceSeconds) + CLOSING_SECONDS + FOLLOW_SECONDS,
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: labelsOf(spec, role) },
        },
      ],
      volumes: handoverVolumes(objectName(spec.revisionId, 'secrets')),
      initContainers: [prepareContainer(common)],
      containers: [
        serviceContainer(spec.resources, role, objectName(spec.revisionId, role), common),
        secretsContainer(common),
      ],
    },
  };
}

function serviceContainer(
  resources: ResourceSpec,
  role: ReplicaRole,
  environmentSecret: string,
  common: Partial<V1Container>,
): V1Container {
  const probe = (path: string, timing: V1Probe): V1Probe => ({
    httpGet: { path, port: PORT },
    timeoutSeconds: 5,
    ...timing,
  });
  return {
    ...common,
    ...serviceCommand(role),
    name: role,
    envFrom: [{ secretRef: { name: environmentSecret } }],
    ports: [{ name: 'http', containerPort: PORT }],
    resources: resourcesOf(resources, role),
    startupProbe: probe('/ok?check_db=1', { periodSeconds: 1, failureThreshold: START_SECONDS }),
    // The probes do not check the database: during an outage an answer of the server says more than a route without
    // servers.
    readinessProbe: probe('/ok', { periodSeconds: 2, failureThreshold: 2 }),
    livenessProbe: probe('/ok', { periodSeconds: 10, failureThreshold: 6 }),
    ...(role === 'agent-api' && {
      lifecycle: { preStop: { exec: { command: ['/bin/sh', '-c', `sleep ${FOLLOW_SECONDS}`] } } },
    }),
  };
}

/** Returns requests and limits. A missing limit is twice the request; without both, neither is set. */
function resourcesOf(resources: ResourceSpec, role: ReplicaRole): V1ResourceRequirements {
  const isWorker = role === 'run-worker';
  const cpu = (isWorker && resources.queue_cpu) || resources.cpu;
  const cpuLimit = (isWorker && resources.queue_cpu_limit) || resources.cpu_limit || (cpu && cpu * 2);
  const memory = (isWorker && resources.queue_memory_mb) || resources.memory_mb;
  const memoryLimit =
    (isWorker && resources.queue_memory_limit_mb) || resources.memory_limit_mb || (memory && memory * 2);
  const amounts = (cores: number | null | undefined | false, mebibytes: number | null | undefined | false) => ({
    ...(cores && { cpu: `${Math.round(cores * 1000)}m` }),
    ...(mebibytes && { memory: `${mebibytes}Mi` }),
  });
  return {
    requests: amounts(cpu, memory),
    // The unprefixed limit may be below the request of the workers.
    limits: amounts(cpuLimit && Math.max(cpuLimit, cpu || 0), memoryLimit && Math.max(memoryLimit, memory || 0)),
  };
}
