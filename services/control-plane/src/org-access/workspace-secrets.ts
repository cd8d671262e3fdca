import { type WorkspaceSecretsRequest, WorkspaceSecretValues } from '@runyard/contracts';
import { type InternalClient, orUnavailable, type Tenant } from '@runyard/service-kit';

/** Reads secrets of workspaces, which org-access keeps. */
export class WorkspaceSecrets {
  readonly #orgAccess: Pick<InternalClient, 'ask'>;

  constructor(orgAccess: Pick<InternalClient, 'ask'>) {
    this.#orgAccess = orgAccess;
  }

  /**
   * Returns the values of those keys that the workspace has.
   *
   * @throws UnavailableError when org-access cannot be reached
   */
  async read({ organizationId, workspaceId }: Tenant, keys: readonly string[]): Promise<Map<string, string>> {
    const question: WorkspaceSecretsRequest = {
      organization_id: organizationId,
      workspace_id: workspaceId,
      keys: [...new Set(keys)],
    };
    const { secrets } = await orUnavailable(
      this.#orgAccess.ask('/internal/workspaces/secrets', question, WorkspaceSecretValues),
      'The secrets of the workspace cannot be read at the moment',
      { code: 'workspace_secrets_unavailable' },
    );
    return new Map(secrets.map(({ key, value }) => [key, value]));
  }
}
