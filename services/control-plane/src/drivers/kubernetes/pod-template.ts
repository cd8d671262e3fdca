import { createHash } from 'node:crypto';
import type { V1Container, V1PodTemplateSpec, V1Probe, V1ResourceRequirements } from '@kubernetes/client-node';
import type { ResourceSpec } from '@runyard/contracts';
import type { ImageArtifact, RevisionSpec } from '../driver.ts';
import type { Role } from '../scale-bounds.ts';
import { labelsOf, nameOf } from './labels.ts';
import { handingContainer, handoverVolumes, preparingContainer, takingOver } from './secret-handover.ts';

export const PORT = 8000;
/** `node` in the images of Node: no container runs as root. */
const USER = 1000;
/** A server goes on answering so long after it was asked to end: everybody has heard by then that it leaves the route. */
const FOLLOW_SECONDS = 2;
/** Beside its grace a service gets this long to close what it has open. */
const CLOSING_SECONDS = 10;
/** A start that takes longer is begun anew. How long a revision may take altogether is decided elsewhere. */
const START_SECONDS = 300;

export interface PodOptions {
  role: Role;
  image: ImageArtifact;
  graceSeconds: number;
  /** Of the Secrets the pod uses: pods are replaced when they change. */
  secretsContent: string;
  /** Names of the Secrets the image is pulled with. */
  pullSecrets: string[];
}

/** A pod of one of the services of a revision. What the Pod Security Standard `restricted` asks for holds for it. */
export function podTemplate(spec: RevisionSpec, options: PodOptions): V1PodTemplateSpec {
  const { role, image, graceSeconds, secretsContent, pullSecrets } = options;
  const { imageUri, architecture } = image;
  const common = {
    image: imageUri,
    // A tag may have moved; a digest never does.
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
      // What a project's code may do with the cluster's API is nothing.
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
      volumes: handoverVolumes(nameOf(spec.revisionId, 'secrets')),
      initContainers: [preparingContainer(common)],
      containers: [
        serviceContainer(spec.resources, role, nameOf(spec.revisionId, role), common),
        handingContainer(common),
      ],
    },
  };
}

function serviceContainer(
  resources: ResourceSpec,
  role: Role,
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
    ...takingOver(role),
    name: role,
    envFrom: [{ secretRef: { name: environmentSecret } }],
    ports: [{ name: 'http', containerPort: PORT }],
    resources: resourcesOf(resources, role),
    startupProbe: probe('/ok?check_db=1', { periodSeconds: 1, failureThreshold: START_SECONDS }),
    // Not asked about the database again: while it is away, servers say so better than a route that leads nowhere.
    readinessProbe: probe('/ok', { periodSeconds: 2, failureThreshold: 2 }),
    livenessProbe: probe('/ok', { periodSeconds: 10, failureThreshold: 6 }),
    ...(role === 'agent-api' && {
      lifecycle: { preStop: { exec: { command: ['/bin/sh', '-c', `sleep ${FOLLOW_SECONDS}`] } } },
    }),
  };
}

/** The limit is twice what was asked for, where it was not given itself; nothing is asked for where nothing was given. */
function resourcesOf(resources: ResourceSpec, role: Role): V1ResourceRequirements {
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
    // An unprefixed limit may be below what workers ask for.
    limits: amounts(cpuLimit && Math.max(cpuLimit, cpu || 0), memoryLimit && Math.max(memoryLimit, memory || 0)),
  };
}
