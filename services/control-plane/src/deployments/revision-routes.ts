import { createRevision, getRevision, interruptRevision, listRevisions, redeployRevision } from '@runyard/contracts';
import { toSqlValue } from '@runyard/database';
import { parseStatuses } from '@runyard/deployments';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, created, ok } from '@runyard/service-kit';
import type { RevisionService } from './revision-service.ts';

export function revisionRoutes(revisions: RevisionService, keys: IdempotencyKeys): BoundOperation[] {
  return [
    bind(listRevisions, async ({ caller, params, query }) => {
      const { limit, offset, status, remote_reconciled: isRemote } = query;
      const filter = { statuses: parseStatuses(status), isRemote };
      return ok(await revisions.list(caller, params.deployment_id.toLowerCase(), filter, { limit, offset }));
    }),
    bindCreation(keys, createRevision, created, ({ caller, params, body }, keyed) =>
      revisions.create(caller, params.deployment_id.toLowerCase(), toSqlValue(body), keyed),
    ),
    bind(getRevision, async ({ caller, params }) => ok(await revisions.get(caller, ...idsOf(params)))),
    bindCreation(keys, redeployRevision, ok, ({ caller, params }, keyed) =>
      revisions.redeploy(caller, ...idsOf(params), keyed),
    ),
    bind(interruptRevision, async ({ caller, params }) => ok(await revisions.interrupt(caller, ...idsOf(params)))),
  ];
}

const idsOf = (params: { deployment_id: string; revision_id: string }): [string, string] => [
  params.deployment_id.toLowerCase(),
  params.revision_id.toLowerCase(),
];
