import { RouteSnapshot } from '@runyard/contracts';
import type { InternalClient, Tenant } from '@runyard/service-kit';
import type pg from 'pg';

interface Dependencies {
  pool: pg.Pool;
  controlPlane: Pick<InternalClient, 'ask'>;
}

/**
 * The deployments that exist, with their workspaces, as control-plane says it: an event names only its deployment, and
 * whoever can write to the bus must not choose a workspace. The table has them for searches and after a restart.
 */
export class KnownDeployments {
  readonly #dependencies: Dependencies;
  #workspaces: ReadonlyMap<string, string> = new Map();
  /** The question under way; those who come meanwhile share the next one, which begins after they asked. */
  #asking: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes over what the table has, so that a start needs no control-plane. */
  async load(): Promise<void> {
    const { rows } = await this.#dependencies.pool.query<{ deployment_id: string; workspace_id: string }>(
      'SELECT deployment_id, workspace_id FROM deployment',
    );
    this.#workspaces = new Map(rows.map((row) => [row.deployment_id, row.workspace_id]));
  }

  /** Returns the ids of those that are known by now. */
  list(): string[] {
    return [...this.#workspaces.keys()];
  }

  /**
   * Returns the workspaces of those that exist. control-plane is asked when one of them is not known.
   *
   * @throws Error when it cannot be asked
   */
  async findWorkspaces(deploymentIds: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
    if ([...deploymentIds].some((id) => !this.#workspaces.has(id))) await this.refresh();
    return this.#workspaces;
  }

  /** Asks control-plane for all deployments. @throws Error */
  refresh(): Promise<void> {
    if (!this.#asking) {
      this.#asking = this.#ask().finally(() => {
        this.#asking = undefined;
      });
      return this.#asking;
    }
    this.#next ??= this.#asking
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.refresh();
      });
    return this.#next;
  }

  /** Returns the deployments that the journal has something of and that do not exist any more. */
  async listDeleted(): Promise<string[]> {
    await this.refresh();
    const { rows } = await this.#dependencies.pool.query<{ deployment_id: string }>(
      'SELECT deployment_id FROM deployment',
    );
    return rows.map((row) => row.deployment_id).filter((id) => !this.#workspaces.has(id));
  }

  async listOfTenant({ organizationId, workspaceId }: Tenant): Promise<string[]> {
    const { rows } = await this.#dependencies.pool.query<{ deployment_id: string }>({
      name: 'history_deployments',
      text: 'SELECT deployment_id FROM deployment WHERE organization_id = $1 AND workspace_id = $2',
      values: [organizationId, workspaceId],
    });
    return rows.map((row) => row.deployment_id);
  }

  async #ask(): Promise<void> {
    const { pool, controlPlane } = this.#dependencies;
    const { routes } = await controlPlane.ask('/internal/routes', null, RouteSnapshot);
    await pool.query(
      `INSERT INTO deployment (deployment_id, organization_id, workspace_id)
       SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) ON CONFLICT DO NOTHING`,
      [
        routes.map((route) => route.deployment_id),
        routes.map((route) => route.organization_id),
        routes.map((route) => route.workspace_id),
      ],
    );
    this.#workspaces = new Map(routes.map((route) => [route.deployment_id, route.workspace_id]));
  }
}
