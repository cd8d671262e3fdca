import {
  exportAuditLogs,
  getAuditLogs,
  listActiveWorkspaceMembers,
  listAuditLogs,
  listEnrichedMembers,
  listPendingWorkspaceMembers,
  listWorkspaceMembers,
  memberOperations,
  scimGroupOperations,
  scimProvisionedOperations,
  scimUserOperations,
  searchScim,
  verifyAuditLogs,
} from '@runyard/contracts';
import { limitOperations } from '@runyard/database';
import type { Middleware } from '@runyard/service-kit';

/** Operations whose statements read as much as an organization has, by filters that its clients choose. */
const HEAVY: ReadonlySet<string> = new Set(
  [
    ...[scimUserOperations, scimGroupOperations].flatMap(({ list, search }) => [list, search]),
    searchScim,
    ...scimProvisionedOperations.flatMap(({ listUsers, listGroups }) => [listUsers, listGroups]),
    ...memberOperations.flatMap(({ list, listActive, listPending }) => [list, listActive, listPending]),
    ...listEnrichedMembers,
    listWorkspaceMembers,
    listActiveWorkspaceMembers,
    listPendingWorkspaceMembers,
    getAuditLogs,
    ...listAuditLogs,
    ...exportAuditLogs,
    ...verifyAuditLogs,
  ].map(({ operationId }) => operationId),
);
const STATEMENT_MS = 15_000;

/** Middleware that leaves half of the connections to others than heavy reads: keys are checked whatever anybody searches. */
export function limitReads({ DATABASE_POOL_SIZE: poolSize }: { DATABASE_POOL_SIZE: number }): Middleware {
  return limitOperations(
    { connectionsMax: Math.floor(poolSize / 2), statementMs: STATEMENT_MS },
    (operationId, { signal }) => (HEAVY.has(operationId) ? signal : undefined),
  );
}
