import { AgentStates, type AgentsRequest, RouteSnapshot } from '@runyard/contracts';
import type { InternalClient, Tenant } from '@runyard/service-kit';
import type pg from 'pg';

interface Dependencies {
  pool: pg.Pool;
  controlPlane: Pick<InternalClient, 'ask'>;
}

interface DeploymentRow {
  deployment_id: string;
  organization_id: string;
  workspace_id: string;
  is_deleted: boolean;
}

/** Deployments of one question. */
const QUESTION_MAX = 1_000;
/** An id that control-plane does not know is not asked about again for so long. */
const UNKNOWN_FOR_MS = 60_000;
const UNKNOWN_MAX = 10_000;

/**
 * The deployments that exist, with their workspaces, as control-plane says it: an event names only its deployment, and
 * whoever can write to the bus must not choose a workspace. The table has them for searches and after a restart.
 */
export class KnownDeployments {
  readonly #dependencies: Dependencies;
  #workspaces: ReadonlyMap<string, string> = new Map();
  /** Ids that control-plane did not know, with the time of the answer. */
  readonly #unknown = new Map<string, number>();
  /** The question under way; those who come meanwhile share the next one, which begins after they asked. */
  #asking: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes over what the table has, so that a start needs no control-plane. */
  async load(): Promise<void> {
    const rows = await this.#readRows();
    this.#workspaces = new Map(
      rows.filter((row) => !row.is_deleted).map((row) => [row.deployment_id, row.workspace_id]),
    );
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
    const recently = performance.now() - UNKNOWN_FOR_MS;
    const isNew = (id: string) =>
      !this.#workspaces.has(id) && !((this.#unknown.get(id) ?? Number.NEGATIVE_INFINITY) > recently);
    const asked = [...deploymentIds].filter(isNew);
    if (asked.length === 0) return this.#workspaces;
    await this.refresh();
    if (this.#unknown.size > UNKNOWN_MAX) this.#unknown.clear();
    for (const id of asked) if (!this.#workspaces.has(id)) this.#unknown.set(id, performance.now());
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

  /**
   * Returns the deployments that the journal has something of and that control-plane has deleted. Ones that it does not
   * know at all are kept: its database may be an older one.
   */
  async listDeleted(): Promise<string[]> {
    await this.refresh();
    const rows = (await this.#readRows()).filter((row) => !this.#workspaces.has(row.deployment_id));
    const deleted: string[] = [];
    for (let start = 0; start < rows.length; start += QUESTION_MAX) {
      const some = rows.slice(start, start + QUESTION_MAX);
      const question: AgentsRequest = {
        agents: some.map(({ deployment_id, organization_id, workspace_id }) => ({
          ...{ organization_id, workspace_id },
          agent_id: deployment_id,
        })),
      };
      const { agents } = await this.#dependencies.controlPlane.ask('/internal/agents', question, AgentStates);
      deleted.push(...some.filter((_, index) => agents[index]?.is_deleted).map((row) => row.deployment_id));
    }
    return deleted;
  }

  async listOfTenant({ organizationId, workspaceId }: Tenant): Promise<string[]> {
    const { rows } = await this.#dependencies.pool.query<{ deployment_id: string }>({
      name: 'history_deployments',
      text: 'SELECT deployment_id FROM deployment WHERE organization_id = $1 AND workspace_id = $2',
      values: [organizationId, workspaceId],
    });
    return rows.map((row) => row.deployment_id);
  }

  async #readRows(): Promise<DeploymentRow[]> {
    const { rows } = await this.#dependencies.pool.query<DeploymentRow>(
      'SELECT deployment_id, organization_id, workspace_id, is_deleted FROM deployment',
    );
    return rows;
  }

  async #ask(): Promise<void> {
    const { pool, controlPlane } = this.#dependencies;
    const { routes } = await controlPlane.ask('/internal/routes', null, RouteSnapshot);
    // A conflict with a row that a batch is changing would wait for the end of the batch: known rows are left out first.
    await pool.query(
      `INSERT INTO deployment (deployment_id, organization_id, workspace_id)
       SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS route (id, organization_id, workspace_id)
       WHERE NOT EXISTS (SELECT FROM deployment d WHERE d.deployment_id = route.id) ON CONFLICT DO NOTHING`,
      [
        routes.map((route) => route.deployment_id),
        routes.map((route) => route.organization_id),
        routes.map((route) => route.workspace_id),
      ],
    );
    this.#workspaces = new Map(routes.map((route) => [route.deployment_id, route.workspace_id]));
  }
}
