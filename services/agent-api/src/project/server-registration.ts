import { randomUUID } from 'node:crypto';
import { hostname, networkInterfaces } from 'node:os';
import { type ApiServers, REGISTER_EVERY_MS } from '@runyard/run-engine';
import { type Logger, PeriodicTask } from '@runyard/service-kit';

export interface ServerRegistrationOptions {
  servers: ApiServers;
  /** The base URL at which workers reach this process. */
  url: string;
  token: string;
  revisionId: string | null;
  logger: Logger;
}

/** Keeps this process listed where workers of the deployment look for servers. */
export class ServerRegistration {
  readonly #options: ServerRegistrationOptions;
  readonly #serverId = randomUUID();
  readonly #task: PeriodicTask;

  constructor(options: ServerRegistrationOptions) {
    this.#options = options;
    const { logger } = options;
    const run = () => this.#register();
    this.#task = new PeriodicTask({ name: 'server registration', everyMs: REGISTER_EVERY_MS, run, logger });
  }

  async start(): Promise<void> {
    await this.#register();
    this.#task.start();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
    const { servers, logger } = this.#options;
    await servers.deregister(this.#serverId).catch((error) => logger.debug('server deregistration failed', { error }));
  }

  async #register(): Promise<void> {
    const { servers, url, token, revisionId, logger } = this.#options;
    await servers
      .register({ serverId: this.#serverId, url, token, revisionId })
      .catch((error) => logger.debug('server registration failed, will retry', { error }));
  }
}

/**
 * Returns the URL at which others reach a server that listens at `listening`; all addresses means the first one of this
 * machine. Its host name would not do: neither pods nor containers of one network resolve each other's names
 * everywhere.
 */
export function reachableUrl(listening: string, configured: string | undefined): string {
  if (configured !== undefined) return configured.replace(/(?<!\/)\/+$/, '');
  const url = new URL(listening);
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = firstNetworkAddress();
  return url.origin;
}

function firstNetworkAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const found = addresses.find(({ family, internal }) => family === 'IPv4' && !internal);
  return found?.address ?? hostname();
}
