import { conforms, DeletedWorkspacesResponse, WorkspaceDeleted } from '@runyard/contracts';
import { type InternalClient, type Lifecycle, type Logger, PeriodicTask, type Tenant } from '@runyard/service-kit';

const EVERY_MS = 300_000;
/** Workspaces of one question. */
const QUESTION_MAX = 1000;

interface Dependencies {
  /** Lists the workspaces that the service keeps something for. */
  listInUse(): Promise<Tenant[]>;
  orgAccess: Pick<InternalClient, 'ask'>;
  /**
   * Remove, in this order, what the service keeps for a workspace. Each may be repeated, and may leave something for the
   * next round.
   */
  removeParts: ((tenant: Tenant) => Promise<void>)[];
  logger: Logger;
}

/**
 * Removes what belongs to workspaces that were deleted. An event is only a hint: org-access is asked, so that nobody can
 * delete anything by writing to the bus. A periodic round asks about all workspaces that something is kept for, because
 * events may be lost, data planes take their time, and something may be made while its workspace is being deleted.
 */
export class DeletedWorkspaces {
  readonly #dependencies: Dependencies;
  readonly #rounds: PeriodicTask;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#rounds = new PeriodicTask({
      name: 'removal of deleted workspaces',
      everyMs: EVERY_MS,
      atStart: true,
      run: (task) => this.#checkAll(task),
      logger: dependencies.logger,
    });
  }

  start(lifecycle: Pick<Lifecycle, 'onStop'>): void {
    this.#rounds.start();
    lifecycle.onStop('removal of deleted workspaces', () => this.#rounds.stop());
  }

  /** Takes an event of `organizations`. */
  async onEvent(event: unknown): Promise<void> {
    if (!conforms(WorkspaceDeleted, event)) return;
    const { organization_id: organizationId, workspace_id: workspaceId } = event.data;
    await this.#check([{ organizationId, workspaceId }]);
  }

  async #checkAll(task: PeriodicTask): Promise<void> {
    const tenants = await this.#dependencies.listInUse();
    for (let at = 0; at < tenants.length && !task.isStopped; at += QUESTION_MAX) {
      await this.#check(tenants.slice(at, at + QUESTION_MAX));
    }
  }

  /** @throws Error when org-access cannot be reached: then nothing is removed */
  async #check(tenants: readonly Tenant[]): Promise<void> {
    const { orgAccess, removeParts } = this.#dependencies;
    const workspaces = tenants.map(({ organizationId, workspaceId }) => ({
      organization_id: organizationId,
      workspace_id: workspaceId,
    }));
    const { deleted } = await orgAccess.ask('/internal/workspaces/deleted', { workspaces }, DeletedWorkspacesResponse);
    const errors: unknown[] = [];
    for (const { organization_id: organizationId, workspace_id: workspaceId } of deleted) {
      try {
        for (const remove of removeParts) await remove({ organizationId, workspaceId });
      } catch (error) {
        // The other workspaces do not wait for this one.
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, `${errors.length} deleted workspaces still have something`);
  }
}
