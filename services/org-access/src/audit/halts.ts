import { conforms, HaltChanged } from '@runyard/contracts';
import type { EventBus } from '@runyard/event-bus';
import type { Lifecycle, Logger } from '@runyard/service-kit';
import type { Static } from 'typebox';
import type { Database } from '../database/database.ts';
import { audited } from './audit-trail.ts';
import { recordFrom } from './change-origin.ts';

interface Parts {
  bus: EventBus;
  database: Database;
  lifecycle: Lifecycle;
  logger: Logger;
}

/**
 * Records in the audit trail who halted and who resumed what, as control-plane tells it. The time of the entry is that of
 * its recording, since a chain does not go back; `details` has that of the change. It does not wait for the subscription,
 * as the bus may become available later.
 */
export function recordHalts({ bus, database, lifecycle, logger }: Parts): void {
  bus
    .subscribe({
      topics: ['deployments'],
      group: 'org-access-audit',
      from: 'earliest',
      onEvent: async (event) => {
        if (!conforms(HaltChanged, event)) return;
        await recordHalt(database, event);
      },
    })
    .catch((error: unknown) => {
      if (!lifecycle.isDraining) logger.error('event bus subscription failed', { error });
    });
}

async function recordHalt(database: Database, { id, time, data }: Static<typeof HaltChanged>): Promise<void> {
  const { organization_id, workspace_id, deployment_id, before, after, origin } = data;
  const resourceType = deployment_id ? 'deployment' : workspace_id ? 'workspace' : 'organization';
  const change = audited(async (transaction, audit) => {
    if (await transaction.auditEvent.findUnique({ where: { id }, select: { id: true } })) return;
    audit.record(organization_id, {
      id,
      action: `${resourceType}.${after ? 'halted' : 'resumed'}`,
      resourceType,
      resourceId: deployment_id ?? workspace_id ?? organization_id,
      workspaceId: workspace_id,
      before,
      after,
      details: { changed_at: time },
    });
  });
  await recordFrom(
    {
      actorKind: origin.actor_kind,
      actorId: origin.actor_id,
      personId: origin.person_id,
      credentialId: origin.credential_id,
      address: origin.address,
      requestId: origin.request_id,
      operation: origin.operation,
      requestMethod: origin.request_method,
      requestPath: origin.request_path,
    },
    () => database.transact(change),
  );
}
