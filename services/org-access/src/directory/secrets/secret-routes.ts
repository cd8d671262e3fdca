import { listWorkspaceSecrets, readWorkspaceSecrets, setWorkspaceSecrets } from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { SecretService } from './secret-service.ts';

export function secretRoutes(secrets: SecretService): BoundOperation[] {
  return [
    bind(listWorkspaceSecrets, async ({ caller }) => ok(await secrets.list(caller))),
    bind(setWorkspaceSecrets, async ({ caller, body }) => ok(await secrets.set(caller, body))),
    bind(readWorkspaceSecrets, async ({ body }) => ok(await secrets.read(body))),
  ];
}
