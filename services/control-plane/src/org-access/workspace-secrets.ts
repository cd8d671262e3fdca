import { type WorkspaceSecretsRequest, WorkspaceSecretValues } from '@runyard/contracts';
import { type InternalClient, type Tenant, UnavailableError } from '@runyard/service-kit';

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
    try {
      const { secrets } = await this.#orgAccess.ask('/internal/workspaces/secrets', question, WorkspaceSecretValues);
      return new Map(secrets.map(({ key, value }) => [key, value]));
    } catch (cause) {
      throw new UnavailableError('The secrets of the workspace cannot be read at the moment', {
        code: 'workspace_secrets_unavailable',
        cause,
      });
    }
  }
}
