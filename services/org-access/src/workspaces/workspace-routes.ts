import { createWorkspace, listWorkspaces } from '@runyard/contracts';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { WorkspaceService } from './workspace-service.ts';

export function workspaceRoutes(workspaces: WorkspaceService, keys: IdempotencyKeys): BoundOperation[] {
  return [
    bind(listWorkspaces, async ({ caller }) => ok(await workspaces.list(caller))),
    bindCreation(keys, createWorkspace, ok, ({ caller, body }, keyed) => workspaces.create(caller, body, keyed)),
  ];
}
