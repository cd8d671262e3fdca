import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Servers, Supervisor } from '@runyard/local-infra';
import { PlatformClient } from '../platform-client.ts';
import type { Progress } from '../progress.ts';
import type { ProjectUserSettings } from './project-users.ts';
import { createServiceSettings, type ServiceSettings } from './service-settings.ts';
import { superviseService } from './supervised-service.ts';

export interface Services {
  /** The URL of the gateway, which is all that clients see. */
  url: string;
  orgAccess: PlatformClient;
  /** Rejects when a service ended again and again and is given up. */
  firstFailure: Promise<never>;
  stop(): Promise<void>;
}

/** Starts all services, each as its own process from its bundle. */
export async function startServices(options: {
  repository: string;
  dataDir: string;
  port: number;
  supervisor: Supervisor;
  servers: Servers;
  progress: Progress;
  /** Null when projects and builds run as the user of the platform. */
  projectUsers: ProjectUserSettings | null;
}): Promise<Services> {
  const logDir = join(options.dataDir, 'logs');
  await mkdir(logDir, { recursive: true, mode: 0o700 });
  const { settings, internalToken } = await createServiceSettings({ ...options, environment: process.env });
  const starting = settings.map((service) => superviseService({ ...options, ...service, logDir }));
  const stop = async () => {
    // The edge stops first, with the broker that is asked through it, then the deployments with the data plane, which
    // still reports to control-plane, and then what they were made, pulled and authenticated with.
    for (const names of [['gateway', 'oauth-broker'], ['data-plane'], ['control-plane', 'registry', 'org-access']]) {
      const stopping = settings.map(async ({ name }, index) => {
        const service = names.includes(name) ? await starting[index]!.catch(() => null) : null;
        await service?.stop();
      });
      await Promise.all(stopping);
    }
  };
  try {
    const services = await Promise.all(starting);
    options.progress.step(`Services: ${services.map((service) => service.name).join(', ')}`);
    const firstFailure = Promise.race(services.map((service) => service.unexpectedEnd));
    firstFailure.catch(() => {}); // It may be awaited late; until then the rejection must not end the process.
    return {
      url: urlOf('gateway', settings),
      orgAccess: new PlatformClient(urlOf('org-access', settings), { authorization: `Bearer ${internalToken}` }),
      firstFailure,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function urlOf(name: ServiceSettings['name'], settings: ServiceSettings[]): string {
  return `http://127.0.0.1:${settings.find((service) => service.name === name)?.port}`;
}
