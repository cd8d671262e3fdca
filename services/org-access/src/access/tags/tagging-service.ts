import type { Tagging, TaggingCreate } from '@runyard/contracts';
import { ConflictError, NotFoundError, type Principal, tenantOf } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { audited } from '../../audit/audit-trail.ts';
import type { Database } from '../../database/database.ts';
import { isParentGone, isTaken } from '../../database/is-taken.ts';
import { publishTagChange } from '../policy-changes.ts';
import { requireChangeableTags } from './policy-tags.ts';
import { renderTagging } from './render-tag.ts';
import { tagStore } from './tag-store.ts';
import { filterVisible } from './visible-resources.ts';

/**
 * Keeps which resource has which tags. Other services own the resources: whether one exists is not asked here, since a
 * tag on nothing does nothing. Whoever reads tags looks at resources of the same workspace alone.
 */
export class TaggingService {
  readonly #database: Database;

  constructor(options: { database: Database }) {
    this.#database = options.database;
  }

  /** Returns the taggings with a value, without those of deployments that policies hide from the caller. */
  async list(caller: Principal, tagValueId: string): Promise<Tagging[]> {
    const rows = await tagStore.listTaggings(this.#database.prisma, tenantOf(caller), tagValueId);
    return (await filterVisible(this.#database.prisma, caller, rows)).map(renderTagging);
  }

  /** @throws ConflictError when the resource has the tag */
  async create(caller: Principal, body: TaggingCreate): Promise<Tagging> {
    const tagValueId = body.tag_value_id.toLowerCase();
    try {
      return await this.#database.transact(
        audited(async (transaction, audit) => {
          const value = await tagStore.findValue(transaction, tenantOf(caller), { id: tagValueId });
          if (!value) throw valueNotFound();
          const tenant = await requireChangeableTags(transaction, caller, [value.key.key]);
          const row = await transaction.tagging.create({
            data: {
              ...tenant,
              id: uuidv7(),
              tagValueId,
              resourceType: body.resource_type,
              resourceId: body.resource_id.toLowerCase(),
            },
          });
          await publishTagChange(transaction, tenant.organizationId);
          audit.record(tenant.organizationId, {
            action: 'tagging.created',
            resourceType: 'tagging',
            resourceId: row.id,
            workspaceId: tenant.workspaceId,
            after: renderTagging(row),
          });
          return renderTagging(row);
        }),
      );
    } catch (error) {
      if (isTaken(error)) {
        throw new ConflictError('The resource already has this tag', { code: 'tag_exists', cause: error });
      }
      if (isParentGone(error)) throw valueNotFound();
      throw error;
    }
  }

  async delete(caller: Principal, id: string): Promise<Tagging> {
    return this.#database.transact(
      audited(async (transaction, audit) => {
        const row = await tagStore.findTagging(transaction, tenantOf(caller), id);
        if (!row) throw new NotFoundError('Tagging not found');
        const tenant = await requireChangeableTags(transaction, caller, [row.value.key.key]);
        await transaction.tagging.deleteMany({ where: { ...tenant, id } });
        await publishTagChange(transaction, tenant.organizationId);
        audit.record(tenant.organizationId, {
          action: 'tagging.deleted',
          resourceType: 'tagging',
          resourceId: id,
          workspaceId: tenant.workspaceId,
          before: renderTagging(row),
        });
        return renderTagging(row);
      }),
    );
  }
}

const valueNotFound = () => new NotFoundError('Tag value not found');
