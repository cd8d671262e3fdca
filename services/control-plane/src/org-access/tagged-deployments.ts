import { TaggedResources, type TaggedResourcesRequest } from '@runyard/contracts';
import { type InternalClient, orUnavailable, type Tenant } from '@runyard/service-kit';

/** Asks org-access which deployments have certain tags. */
export class TaggedDeployments {
  readonly #orgAccess: InternalClient;

  constructor(orgAccess: InternalClient) {
    this.#orgAccess = orgAccess;
  }

  /**
   * Returns the ids of what has, of each tag key among the values, one of the values. Some may have been deleted.
   *
   * @throws UnavailableError when org-access cannot be reached
   */
  async find({ organizationId, workspaceId }: Tenant, tagValueIds: string[]): Promise<string[]> {
    const question: TaggedResourcesRequest = {
      organization_id: organizationId,
      workspace_id: workspaceId,
      resource_type: 'deployment',
      tag_value_ids: tagValueIds,
    };
    const { resource_ids: ids } = await orUnavailable(
      this.#orgAccess.ask('/internal/tagged-resources', question, TaggedResources),
      'The tags of deployments cannot be read at the moment',
      { code: 'tags_unavailable' },
    );
    return ids;
  }
}
