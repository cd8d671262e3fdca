import { HaltChanged } from '@runyard/contracts';
import type { RequestOrigin } from '@runyard/service-kit';
import type { Halt, Prisma } from '../generated/client.ts';
import { record } from './record.ts';

type Content = Pick<Halt, 'reason' | 'cancelsQueued'>;

/** Tells the audit trail of a halt or a resume. */
export async function recordHaltChange(
  transaction: Prisma.TransactionClient,
  { organizationId, workspaceId, deploymentId }: Pick<Halt, 'organizationId' | 'workspaceId' | 'deploymentId'>,
  { before, after, origin }: { before: Content | null; after: Content | null; origin: RequestOrigin },
): Promise<void> {
  await record(transaction, HaltChanged, deploymentId ?? workspaceId ?? organizationId, {
    organization_id: organizationId,
    workspace_id: workspaceId,
    deployment_id: deploymentId,
    before: contentOf(before),
    after: contentOf(after),
    origin: {
      actor_kind: origin.actorKind,
      actor_id: origin.actorId,
      person_id: origin.personId,
      credential_id: origin.credentialId,
      address: origin.address,
      request_id: origin.requestId,
      operation: origin.operation,
      request_method: origin.requestMethod,
      request_path: origin.requestPath,
    },
  });
}

function contentOf(halt: Content | null): object | null {
  return halt && { reason: halt.reason, queued: halt.cancelsQueued ? 'cancel' : 'keep' };
}
