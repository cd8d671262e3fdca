import type { ResourceSpec } from '@runyard/contracts';
import type { Place } from '../process/kept-service.ts';
import type { Part } from '../process/launcher.ts';
import { MACHINE_NAME } from './machine-addresses.ts';

/** Whose container it is, so that one that is left over is found. */
export const LABELS = {
  deployment: 'io.runyard.deployment',
  revision: 'io.runyard.revision',
  part: 'io.runyard.part',
  /** The process that started it. */
  holder: 'io.runyard.holder',
} as const;

/** The port a service listens on inside its container, where it has a network of its own. */
export const INNER_PORT = 8000;
/** `node` in the images of Node: no container runs as root. */
const USER = '1000:1000';
const PROCESSES_MAX = 1024;

export interface RunDescription {
  name: string;
  image: string;
  /** Its limits are this one's. */
  role: Part['role'];
  labels: Record<string, string>;
  resources: ResourceSpec;
  /** Names of the variables; their values are in the environment of the command. */
  variables: readonly string[];
  network: ContainerNetwork;
  /** What the entry point is given. */
  command: readonly string[];
}

export type ContainerNetwork =
  /** The one of the machine itself. */
  | { kind: 'host' }
  /** The engine's own: reached over a port of the machine. */
  | {
      kind: 'published';
      /** Undefined: nobody connects to the container. */
      place: Place | undefined;
      /** What the name of this machine stands for in it. */
      machine: string;
    }
  /** One that the gateway is on too: reached by the container's name. */
  | { kind: 'named'; network: string };

/** What the engine's `run` is called with. */
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
  const { place, machine } = network;
  return [
    ...(place ? [`--publish=${place.host}:${place.port}:${INNER_PORT}`] : []),
    `--add-host=${MACHINE_NAME}:${machine}`,
  ];
}

/** Twice what was asked for, where the limit itself was not; nothing where neither was. */
function limits(resources: ResourceSpec, role: Part['role']): string[] {
  const isWorker = role === 'run-worker';
  const cpu = (isWorker && resources.queue_cpu) || resources.cpu;
  const cpuLimit = (isWorker && resources.queue_cpu_limit) || resources.cpu_limit || (cpu && cpu * 2);
  const memory = (isWorker && resources.queue_memory_mb) || resources.memory_mb;
  const memoryLimit =
    (isWorker && resources.queue_memory_limit_mb) || resources.memory_limit_mb || (memory && memory * 2);
  return [
    ...(cpuLimit ? [`--cpus=${Math.round(cpuLimit * 10) / 10}`] : []),
    ...(memory ? [`--memory-reservation=${memory}m`] : []),
    ...(memoryLimit ? [`--memory=${Math.max(memoryLimit, memory || 0)}m`] : []),
  ];
}
