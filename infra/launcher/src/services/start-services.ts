import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuildQueueOptions, waitForBuild } from '@runyard/build-queue/wait-for-build';
import type { Servers, Supervisor } from '@runyard/local-infra';
import { PlatformClient } from '../platform-client.ts';
import type { Progress } from '../progress.ts';
import { assignProcesses, SHARED_PROCESS } from './processes.ts';
import type { ProjectUserSettings } from './project-users.ts';
import { createServiceSettings, type ReloadMode, type ServiceSettings, urlOf } from './service-settings.ts';
import { superviseService } from './supervised-service.ts';

export interface Services {
  /** The URL of the gateway, which is all that clients see. */
  url: string;
  /** Address of the console for browsers of this machine. */
  consoleUrl: string;
  orgAccess: PlatformClient;
  /** Rejects when a service ended again and again and is given up. */
  firstFailure: Promise<never>;
  stop(): Promise<void>;
}

/** Starts all services; those that run no code of projects share a process, unless the environment says otherwise. */
export async function startServices(options: {
  repository: string;
  dataDir: string;
  host: string;
  port: number;
  rootFile: string;
  origins: string[];
  reload: ReloadMode;
  logRuns: boolean;
  supervisor: Supervisor;
  servers: Servers;
  progress: Progress;
  /** Null when projects and builds run as the user of the platform. */
  projectUsers: ProjectUserSettings | null;
}): Promise<Services> {
  const logDir = join(options.dataDir, 'logs');
  const compiledDir = join(options.dataDir, 'compiled');
  for (const folder of [logDir, compiledDir]) await mkdir(folder, { recursive: true, mode: 0o700 });
  const { settings, internalToken } = await createServiceSettings({ ...options, environment: process.env });
  const processes = assignProcesses(settings, process.env);
  const builds = buildQueueOf(settings);
  const starting = processes.map((settings) =>
    superviseService({
      ...options,
      ...settings,
      logDir,
      compiledDir,
      untilNeeded: settings.name === 'builder' ? (signal) => waitForBuild(builds, signal) : undefined,
    }),
  );
  const stop = async () => {
    // The edge stops first, with the console, so that nobody asks the others through them, then deployments with the
    // data plane and builds, which still report to control-plane, and then what they were made, pulled and authenticated
    // with. Services that share a process have that order among themselves.
    const isEdge = (name: string) => ['gateway', 'console'].includes(name);
    const runsProjects = (name: string) => ['data-plane', 'builder', SHARED_PROCESS].includes(name);
    const isLast = (name: string) => !isEdge(name) && !runsProjects(name);
    for (const stops of [isEdge, runsProjects, isLast]) {
      const stopping = processes.map(async ({ name }, index) => {
        const running = stops(name) ? await starting[index]!.catch(() => null) : null;
        await running?.stop();
      });
      await Promise.all(stopping);
    }
  };
  try {
    const started = Promise.all(starting);
    options.progress.step(`Starting ${settings.map(({ name }) => name).join(', ')}`, started);
    const running = await started;
    const firstFailure = Promise.race(running.map(({ unexpectedEnd }) => unexpectedEnd));
    firstFailure.catch(() => {}); // It may be awaited late; until then the rejection must not end the process.
    return {
      url: urlOf(find('gateway', settings)),
      consoleUrl: find('console', settings).env.CONSOLE_URL!,
      orgAccess: new PlatformClient(urlOf(find('org-access', settings)), { authorization: `Bearer ${internalToken}` }),
      firstFailure,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The queue that a builder takes jobs from, which wakes it when it has ended. */
function buildQueueOf(settings: ServiceSettings[]): BuildQueueOptions {
  const { env, secrets } = find('builder', settings);
  // Redis that is away comes back, or ends the platform.
  return { redis: secrets.REDIS_URI!, prefix: env.BUILD_QUEUE_PREFIX!, onError: () => undefined };
}

function find(name: ServiceSettings['name'], settings: ServiceSettings[]): ServiceSettings {
  return settings.find((service) => service.name === name)!;
}
