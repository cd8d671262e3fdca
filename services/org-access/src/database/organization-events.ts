import {
  IdentityChanged,
  IdentityRemoved,
  KeyIssued,
  KeyRevoked,
  OrganizationSettingsChanged,
  SessionChanged,
  SessionEnded,
  TOPICS,
  WorkspaceDeleted,
} from '@runyard/contracts';
import { makeEvent } from '@runyard/event-bus';
import type { Prisma } from '../generated/client.ts';

const SOURCE = '/runyard/org-access';

/** Records the events of this service in its outbox. Each is written in the transaction that makes it true. */
export const organizationEvents = {
  keyIssued: (transaction: Prisma.TransactionClient, key: { organizationId: string; keyId: string }) =>
    record(transaction, KeyIssued, key.organizationId, { organization_id: key.organizationId, key_id: key.keyId }),

  /** Records one event for each key, in one statement. */
  keysRevoked: (
    transaction: Prisma.TransactionClient,
    keys: readonly { organizationId: string; id: string }[],
  ): Promise<void> =>
    recordAll(
      transaction,
      keys.map(({ organizationId, id }) =>
        toRow(KeyRevoked, organizationId, { organization_id: organizationId, key_id: id }),
      ),
    ),

  /** Records one event for each identity, in one statement. */
  identitiesChanged: (
    transaction: Prisma.TransactionClient,
    { organizationId, identityIds }: { organizationId: string; identityIds: readonly string[] },
  ): Promise<void> =>
    recordAll(
      transaction,
      identityIds.map((identityId) =>
        toRow(IdentityChanged, organizationId, { organization_id: organizationId, identity_id: identityId }),
      ),
    ),

  sessionChanged: (transaction: Prisma.TransactionClient, { sessionId }: { sessionId: string }) =>
    record(transaction, SessionChanged, sessionId, { session_id: sessionId }),

  /** Records one event for each session, in one statement. */
  sessionsEnded: (transaction: Prisma.TransactionClient, sessionIds: readonly string[]): Promise<void> =>
    recordAll(
      transaction,
      sessionIds.map((sessionId) => toRow(SessionEnded, sessionId, { session_id: sessionId })),
    ),

  identityRemoved: (transaction: Prisma.TransactionClient, identity: { organizationId: string; identityId: string }) =>
    record(transaction, IdentityRemoved, identity.organizationId, {
      organization_id: identity.organizationId,
      identity_id: identity.identityId,
    }),

  workspaceDeleted: (
    transaction: Prisma.TransactionClient,
    workspace: { organizationId: string; workspaceId: string },
  ) =>
    record(transaction, WorkspaceDeleted, workspace.organizationId, {
      organization_id: workspace.organizationId,
      workspace_id: workspace.workspaceId,
    }),

  settingsChanged: (transaction: Prisma.TransactionClient, { organizationId }: { organizationId: string }) =>
    record(transaction, OrganizationSettingsChanged, organizationId, { organization_id: organizationId }),
};

async function record(
  transaction: Prisma.TransactionClient,
  schema: Parameters<typeof makeEvent>[0],
  key: string,
  data: Record<string, string>,
): Promise<void> {
  await transaction.outbox.create({ data: toRow(schema, key, data) });
}

async function recordAll(
  transaction: Prisma.TransactionClient,
  data: readonly ReturnType<typeof toRow>[],
): Promise<void> {
  if (data.length > 0) await transaction.outbox.createMany({ data: [...data] });
}

function toRow(schema: Parameters<typeof makeEvent>[0], key: string, data: Record<string, string>) {
  const event = makeEvent(schema, { source: SOURCE, subject: key, data });
  return { topic: TOPICS.organizations.name, key, event: event as unknown as Prisma.InputJsonObject };
}
