import { lockAdministrators } from '../access/administrators.ts';
import { type AuditRecorder, audited } from '../audit/audit-trail.ts';
import type { Database } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';
import type { ListRequest } from './list-request.ts';
import type { ScimObject } from './resources/normalize.ts';
import type { PatchOperation } from './resources/patch-request.ts';
import type { Projection } from './resources/project.ts';
import type { ScimScope } from './scim-gate.ts';

/** A user or group with its answer. */
export interface ScimAnswer {
  id: string;
  version: number;
  /** Null when no projection asked for it. */
  resource: ScimObject | null;
}

/** Checks a resource before it is changed, for example its version. */
export type VersionCheck = (resource: { version: number }) => void;

/** The users or the groups of organizations; each change is one transaction with its audit events. */
export interface ScimResources {
  list(scope: ScimScope, request: ListRequest): Promise<ScimObject>;
  /** @throws NotFoundError */
  get(scope: ScimScope, id: string, projection: Projection): Promise<ScimAnswer>;
  /** @throws ConflictError `uniqueness` when another resource has the name or an id */
  create(scope: ScimScope, body: ScimObject, projection: Projection): Promise<ScimAnswer>;
  /** @throws NotFoundError; ConflictError `uniqueness`; BadRequestError `mutability` */
  replace(
    scope: ScimScope,
    id: string,
    body: ScimObject,
    check: VersionCheck,
    projection: Projection,
  ): Promise<ScimAnswer>;
  /**
   * @param projection null when the client wants no answer
   * @throws NotFoundError; ConflictError `uniqueness`; BadRequestError `mutability`
   */
  patch(
    scope: ScimScope,
    id: string,
    operations: readonly PatchOperation[],
    check: VersionCheck,
    projection: Projection | null,
  ): Promise<ScimAnswer>;
  /** @throws NotFoundError; ConflictError when an organization would lose its last administrator */
  delete(scope: ScimScope, id: string, check: VersionCheck): Promise<void>;
}

/**
 * Runs a change of users or groups. Changes of one organization wait for each other, so that none sees half of another
 * and roles follow from what is stored.
 */
export function changeDirectory<Result>(
  database: Database,
  organizationId: string,
  work: (transaction: Prisma.TransactionClient, audit: AuditRecorder) => Promise<Result>,
): Promise<Result> {
  return database.transact(
    audited(async (transaction, audit) => {
      await lockAdministrators(transaction, organizationId);
      return work(transaction, audit);
    }),
  );
}
