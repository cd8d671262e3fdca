import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Servers, Supervisor } from '@runyard/local-infra';
import { PlatformClient } from '../platform-client.ts';
import type { Progress } from '../progress.ts';
import { keepService } from './kept-service.ts';
import { type ServiceSettings, serviceSettings } from './service-settings.ts';

export interface Services {
  /** The gateway, which is all that clients see. */
  url: string;
  orgAccess: PlatformClient;
  /** Rejects when a service ended again and again and is given up. */
  firstEnd: Promise<never>;
  stop(): Promise<void>;
}

/** Starts org-access, control-plane and gateway, each as its own process from its bundle. */
export async function startServices(options: {
  repository: string;
  dataDir: string;
  port: number;
  supervisor: Supervisor;
  servers: Servers;
  progress: Progress;
}): Promise<Services> {
  const logDir = join(options.dataDir, 'logs');
  await mkdir(logDir, { recursive: true });
  const { settings, internalToken } = await serviceSettings({ ...options, environment: process.env });
  const starting = settings.map((service) => keepService({ ...options, ...service, logDir }));
  const stop = async () => {
    const started = await Promise.allSettled(starting);
    // The edge first, then the deployments with the service that runs them, then what they ask who a caller is.
    for (const service of started.reverse()) if (service.status === 'fulfilled') await service.value.stop();
  };
  try {
    const services = await Promise.all(starting);
    options.progress.step(`Services: ${services.map((service) => service.name).join(', ')}`);
    const firstEnd = Promise.race(services.map((service) => service.unexpectedEnd));
    firstEnd.catch(() => {}); // Somebody may look at it late; the rejection waits for them.
    return {
      url: urlOf('gateway', settings),
      orgAccess: new PlatformClient(urlOf('org-access', settings), { authorization: `Bearer ${internalToken}` }),
      firstEnd,
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
