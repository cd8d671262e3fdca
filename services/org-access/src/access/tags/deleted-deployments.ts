import { conforms, DeploymentCount, type DeploymentCountRequest, DeploymentDeleted } from '@runyard/contracts';
import type { EventBus } from '@runyard/event-bus';
import type { InternalClient, Lifecycle, Logger } from '@runyard/service-kit';
import type { Database } from '../../database/database.ts';

interface Parts {
  bus: EventBus;
  database: Database;
  /** Null: there is none to ask. Tags of a deployment that does not exist do nothing, so they stay. */
  controlPlane: InternalClient | null;
  lifecycle: Lifecycle;
  logger: Logger;
}

/**
 * Removes the tags of deployments that are deleted. An event is a hint to ask the owner: access policies decide by tags, so
 * that whoever publishes events could lift denials otherwise. It does not wait for the subscription, as the bus may become
 * available later.
 */
export function followDeletedDeployments({ bus, database, controlPlane, lifecycle, logger }: Parts): void {
  if (controlPlane === null) return;
  bus
    .subscribe({
      topics: ['deployments'],
      group: 'org-access-tags',
      from: 'earliest',
      onEvent: async (event) => {
        if (!conforms(DeploymentDeleted, event)) return;
        const { deployment_id, workspace_id, organization_id } = event.data;
        const question: DeploymentCountRequest = { organization_id, workspace_id, deployment_id };
        const { count } = await controlPlane.ask('/internal/deployments/count', question, DeploymentCount);
        if (count > 0) return;
        await database.prisma.tagging.deleteMany({
          where: {
            organizationId: organization_id,
            workspaceId: workspace_id,
            resourceType: 'deployment',
            resourceId: deployment_id,
          },
        });
      },
    })
    .catch((error: unknown) => {
      if (!lifecycle.isDraining) logger.error('event bus subscription failed', { error });
    });
}
