import { InfrastructureError } from '@runyard/local-infra';
import type { ProcessSettings } from './service-process.ts';
import { type ServiceSettings, urlOf } from './service-settings.ts';

type Name = ServiceSettings['name'];

/**
 * The services that share a process, those of infra/platform-services, in the groups in which they stop one after the
 * other. None of them runs code of projects, as builder does.
 */
const SHARING: readonly (readonly Name[])[] = [
  ['gateway', 'console'],
  ['data-plane'],
  ['org-access', 'control-plane', 'registry', 'oauth-broker', 'run-history'],
];

export const SHARED_PROCESS = 'platform-services';

/** Variables that programs which data-plane starts read off its environment: container engines. */
const OF_THE_PROCESS = /^(DOCKER_|CONTAINER_HOST$|XDG_RUNTIME_DIR$)/;

/**
 * Returns whether services share processes. RUNYARD_SHARED_PROCESS=off gives each one of its own, as it has everywhere
 * but on a laptop.
 *
 * @throws InfrastructureError when RUNYARD_SHARED_PROCESS is neither left out nor `off`
 */
export function sharesProcesses({ RUNYARD_SHARED_PROCESS: setting }: NodeJS.ProcessEnv): boolean {
  if (setting && setting !== 'off') {
    throw new InfrastructureError(`RUNYARD_SHARED_PROCESS is ${setting}: leave it out, or set it to off.`);
  }
  return !setting;
}

/** Returns the processes that run these services. */
export function assignProcesses(settings: ServiceSettings[], environment: NodeJS.ProcessEnv): ProcessSettings[] {
  if (!sharesProcesses(environment)) return settings.map(runAlone);
  const sharing = settings.filter(({ name }) => SHARING.flat().includes(name));
  return [runTogether(sharing), ...settings.filter((service) => !sharing.includes(service)).map(runAlone)];
}

function runAlone(service: ServiceSettings): ProcessSettings {
  const { name, port, env, secrets, stopMs } = service;
  return {
    name,
    folder: `services/${name}`,
    services: [{ name, healthUrl: healthUrlOf(service) }],
    env: { ...env, PORT: String(port) },
    secrets,
    stopMs,
  };
}

/** All variables go with the secrets, in an object for each service: the environment is one for all of them. */
function runTogether(services: ServiceSettings[]): ProcessSettings {
  const variables = services.map(({ name, port, env, secrets }) => [name, { ...env, ...secrets, PORT: String(port) }]);
  return {
    name: SHARED_PROCESS,
    folder: 'infra/platform-services',
    services: services.map((service) => ({ name: service.name, healthUrl: healthUrlOf(service) })),
    env: Object.fromEntries(
      services.flatMap(({ env }) => Object.entries(env).filter(([name]) => OF_THE_PROCESS.test(name))),
    ),
    secrets: Object.fromEntries(variables),
    stopMs: SHARING.map((group) => longestStop(services.filter(({ name }) => group.includes(name)))).reduce(sum),
  };
}

function longestStop(services: ServiceSettings[]): number {
  return Math.max(0, ...services.map(({ stopMs }) => stopMs));
}

function sum(one: number, other: number): number {
  return one + other;
}

/** Returns where a service tells whether it is ready. The deployment at the gateway's root has `/ok` there. */
function healthUrlOf(service: ServiceSettings): string {
  return `${urlOf(service)}${service.name === 'gateway' ? '/internal' : ''}/ok?check_db=1`;
}
