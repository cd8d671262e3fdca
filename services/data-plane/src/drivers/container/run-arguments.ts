import type { ResourceSpec } from '@runyard/contracts';
import type { Replica } from '../process/launcher.ts';
import type { ServiceAddress } from '../process/supervised-service.ts';
import { MACHINE_NAME } from './machine-addresses.ts';

/** The port of a service inside a container with a network of its own. */
export const INNER_PORT = 8000;
/** The user `node` of Node's images: no container runs as root. */
const USER = '1000:1000';
const PROCESSES_MAX = 1024;

export interface RunDescription {
  name: string;
  image: string;
  /** The role whose limits the container gets. */
  role: Replica['role'];
  labels: Record<string, string>;
  resources: ResourceSpec;
  /** Names of the variables; the engine's command has their values in its environment. */
  variables: readonly string[];
  network: ContainerNetwork;
  /** Arguments for the image's entry point. */
  command: readonly string[];
}

export type ContainerNetwork =
  /** The machine's own network. */
  | { kind: 'host' }
  /** The engine's default network. The container is reached over a published port of the machine. */
  | {
      kind: 'published';
      /** Undefined when nobody connects to the container. */
      address: ServiceAddress | undefined;
      /** The address that the machine's name has in the container. */
      machine: string;
    }
  /** A network that the gateway is in too. The container is reached by its name. */
  | { kind: 'named'; network: string };

/** Returns the arguments for the engine's `run`. */
export function runArguments(run: RunDescription): string[] {
  const { name, image, role, labels, resources, variables, network, command } = run;
  return [
    'run',
    '--interactive',
    '--rm',
    '--init',
    '--pull=never',
    '--log-driver=none',
    '--cap-drop=ALL',
    '--security-opt=no-new-privileges',
    `--pids-limit=${PROCESSES_MAX}`,
    `--user=${USER}`,
    `--name=${name}`,
    ...Object.entries(labels).map(([label, value]) => `--label=${label}=${value}`),
    ...networkArguments(network),
    ...limits(resources, role),
    ...variables.map((variable) => `--env=${variable}`),
    image,
    ...command,
  ];
}

function networkArguments(network: ContainerNetwork): string[] {
  if (network.kind === 'host') return ['--network=host'];
  if (network.kind === 'named') return [`--network=${network.network}`];
  const { address, machine } = network;
  return [
    ...(address ? [`--publish=${address.host}:${address.port}:${INNER_PORT}`] : []),
    `--add-host=${MACHINE_NAME}:${machine}`,
  ];
}

/** Returns the flags for limits. A missing limit is twice the request; without both there is no flag. */
function limits(resources: ResourceSpec, role: Replica['role']): string[] {
  const isWorker = role === 'run-worker';
  const cpu = (isWorker && resources.queue_cpu) || resources.cpu;
  const cpuLimit = (isWorker && resources.queue_cpu_limit) || resources.cpu_limit || (cpu && cpu * 2);
  const memory = (isWorker && resources.queue_memory_mb) || resources.memory_mb;
  const memoryLimit =
    (isWorker && resources.queue_memory_limit_mb) || resources.memory_limit_mb || (memory && memory * 2);
  return [
    ...(cpuLimit ? [`--cpus=${Math.round(cpuLimit * 1000) / 1000}`] : []),
    ...(memory ? [`--memory-reservation=${memory}m`] : []),
    ...(memoryLimit ? [`--memory=${Math.max(memoryLimit, memory || 0)}m`] : []),
  ];
}
