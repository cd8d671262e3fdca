import { conforms, DeletedWorkspacesResponse, WorkspaceDeleted } from '@runyard/contracts';
import type { EventBus } from '@runyard/event-bus';
import { type Lifecycle, type Logger, NotFoundError, PeriodicTask, type Tenant } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import type { Rollouts } from '../deployments/desired-state.ts';
import { requestDeletion } from '../deployments/request-deletion.ts';
import type { OrgAccessClient } from '../org-access/org-access-client.ts';

const EVERY_MS = 300_000;
/** Workspaces of one question. */
const QUESTION_MAX = 1000;

interface Dependencies {
  database: Database;
  orgAccess: Pick<OrgAccessClient, 'ask'>;
  rollouts: Pick<Rollouts, 'wake'>;
  logger: Logger;
}

/**
 * Deletes the deployments of workspaces that were deleted. An event is only a hint: org-access is asked, so that nobody
 * can delete deployments by writing to the bus. A periodic round asks about all workspaces with deployments, for events
 * that were lost, and for deployments that were made while their workspace was being deleted.
 */
export class DeletedWorkspaces {
  readonly #dependencies: Dependencies;
  readonly #rounds: PeriodicTask;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#rounds = new PeriodicTask({
      name: 'deployments of deleted workspaces',
      everyMs: EVERY_MS,
      atStart: true,
      run: (task) => this.#checkAll(task),
      logger: dependencies.logger,
    });
  }

  start(bus: EventBus, lifecycle: Lifecycle): void {
    this.#rounds.start();
    lifecycle.onStop('deployments of deleted workspaces', () => this.#rounds.stop());
    bus
      .subscribe({
        topics: ['organizations'],
        group: 'control-plane-workspaces',
        from: 'earliest',
        onEvent: async (event) => {
          if (!conforms(WorkspaceDeleted, event)) return;
          const { organization_id: organizationId, workspace_id: workspaceId } = event.data;
          await this.#check([{ organizationId, workspaceId }]);
        },
      })
      .catch((error: unknown) => {
        if (!lifecycle.isDraining) this.#dependencies.logger.error('event bus subscription failed', { error });
      });
  }

  async #checkAll(task: PeriodicTask): Promise<void> {
    const tenants = await this.#dependencies.database.prisma.deployment.findMany({
      where: { deleteRequestedAt: null },
      distinct: ['workspaceId'],
      select: { organizationId: true, workspaceId: true },
    });
    for (let at = 0; at < tenants.length && !task.isStopped; at += QUESTION_MAX) {
      await this.#check(tenants.slice(at, at + QUESTION_MAX));
    }
  }

  /** @throws Error when org-access cannot be reached: then nothing is deleted */
  async #check(tenants: readonly Tenant[]): Promise<void> {
    const { database, orgAccess } = this.#dependencies;
    const workspaces = tenants.map(({ organizationId, workspaceId }) => ({
      organization_id: organizationId,
      workspace_id: workspaceId,
    }));
    const { deleted } = await orgAccess.ask('/internal/workspaces/deleted', { workspaces }, DeletedWorkspacesResponse);
    for (const { organization_id: organizationId, workspace_id: workspaceId } of deleted) {
      const left = await database.prisma.deployment.findMany({
        where: { organizationId, workspaceId, deleteRequestedAt: null },
        select: { id: true },
      });
      for (const { id } of left) await this.#delete({ organizationId, workspaceId }, id);
    }
  }

  async #delete(tenant: Tenant, id: string): Promise<void> {
    const { database, rollouts, logger } = this.#dependencies;
    try {
      await requestDeletion(database, tenant, id);
    } catch (error) {
      // Another process was faster.
      if (error instanceof NotFoundError) return;
      throw error;
    }
    logger.info('deployment deleted with its workspace', { deploymentId: id, workspaceId: tenant.workspaceId });
    rollouts.wake(id);
  }
}
