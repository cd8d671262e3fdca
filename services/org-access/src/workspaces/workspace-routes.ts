import { createWorkspace, listWorkspaces } from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { WorkspaceService } from './workspace-service.ts';

export function workspaceRoutes(workspaces: WorkspaceService): BoundOperation[] {
  return [
    bind(listWorkspaces, async ({ caller }) => ok(await workspaces.list(caller))),
    bind(createWorkspace, async ({ caller, body }) => ok(await workspaces.create(caller, body))),
  ];
}
