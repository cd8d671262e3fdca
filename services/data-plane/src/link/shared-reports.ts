import type { ProcessCounts, RouteReport } from '@runyard/contracts';
import { type Logger, type Tenant, UnavailableError } from '@runyard/service-kit';
import { type ControlPlaneClient, ControlPlaneRefusedError } from './control-plane-client.ts';
import type { ControlPlaneLink } from './control-plane-link.ts';

type RouteChange = Omit<RouteReport, 'epoch'>;

/** Reports what the platform's own data planes share, and asks for what only they may know. */
export class SharedReports {
  readonly #client: ControlPlaneClient;
  readonly #link: Pick<ControlPlaneLink, 'sendStatus' | 'sendOnce'>;

  readonly #logger: Logger;
  /** Holds the changes that were not sent, by deployment. */
  readonly #routes = new Map<string, RouteChange>();
  /** Ends when everything of the deployment was sent. */
  readonly #sending = new Map<string, Promise<void>>();

  constructor(options: {
    client: ControlPlaneClient;
    link: Pick<ControlPlaneLink, 'sendStatus' | 'sendOnce'>;
    logger: Logger;
  }) {
    this.#client = options.client;
    this.#link = options.link;
    this.#logger = options.logger;
  }

  /**
   * Reports where a deployment is reached, in its turn and until the platform has it: what runs does not wait for the
   * platform. Of several changes the newest counts.
   */
  reportRoute(id: string, change: RouteChange): void {
    this.#routes.set(id, { ...this.#routes.get(id), ...change });
    if (this.#sending.has(id)) return;
    this.#sending.set(
      id,
      this.#sendRoutes(id).finally(() => this.#sending.delete(id)),
    );
  }

  /** Drops the changes of a deployment's route that were not sent, as a whole route is reported next. */
  async dropRoute(id: string): Promise<void> {
    this.#routes.delete(id);
    await this.#sending.get(id);
  }

  /** Resolves when all changes of routes were sent, or could not be. */
  async flush(): Promise<void> {
    await Promise.all(this.#sending.values());
  }

  /** Stores the password unless there is one, and returns the stored one. */
  async databasePassword(id: string, password: string): Promise<string> {
    const stored = await this.#link.sendStatus((epoch, signal) =>
      this.#client.storePassword(id, { epoch, password }, signal),
    );
    return stored.password;
  }

  async processCounts(id: string, counts: ProcessCounts): Promise<void> {
    await this.#link.sendOnce((epoch, signal) => this.#client.reportProcessCounts(id, { epoch, counts }, signal));
  }

  /**
   * Returns the values of those keys that the workspace has.
   *
   * @throws UnavailableError when they cannot be read at the moment: then a start is tried again
   */
  async workspaceSecrets({ workspaceId }: Tenant, keys: readonly string[]): Promise<Map<string, string>> {
    const question = { tenant_id: workspaceId, keys: [...new Set(keys)] };
    const { secrets } = await this.#link
      .sendOnce((epoch, signal) => this.#client.workspaceSecrets({ epoch, ...question }, signal))
      .catch((cause: unknown) => {
        throw new UnavailableError('The secrets of the workspace cannot be read at the moment', {
          code: 'workspace_secrets_unavailable',
          cause,
        });
      });
    return new Map(secrets.map(({ key, value }) => [key, value]));
  }

  async #sendRoutes(id: string): Promise<void> {
    for (let change = this.#routes.get(id); change; change = this.#routes.get(id)) {
      this.#routes.delete(id);
      const report = change;
      try {
        await this.#link.sendStatus((epoch, signal) => this.#client.reportRoute(id, { epoch, ...report }, signal));
      } catch (error) {
        // 404: the deployment was deleted, or is another data plane's.
        if (error instanceof ControlPlaneRefusedError && error.status === 404) continue;
        this.#logger.warn('route not reported', { deploymentId: id, error });
      }
    }
  }
}
