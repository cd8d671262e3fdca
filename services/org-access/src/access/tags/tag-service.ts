import type {
  ResourceTag,
  TagKey,
  TagKeyCreate,
  TagKeyUpdate,
  TagKeyWithValues,
  TagValue,
  TagValueCreate,
  TagValueUpdate,
} from '@runyard/contracts';
import { toSqlText } from '@runyard/database';
import { ConflictError, NotFoundError, type Principal, type Tenant, tenantOf } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { type AuditRecorder, audited } from '../../audit/audit-trail.ts';
import type { Database } from '../../database/database.ts';
import { isParentGone, isTaken } from '../../database/is-taken.ts';
import type { Prisma } from '../../generated/client.ts';
import { publishTagChange } from '../policy-changes.ts';
import { requireChangeableTags } from './policy-tags.ts';
import { renderTagging, renderTagKey, renderTagValue } from './render-tag.ts';
import { tagStore } from './tag-store.ts';
import { filterVisible } from './visible-resources.ts';

type Work<Result> = (transaction: Prisma.TransactionClient, audit: AuditRecorder) => Promise<Result>;

/** Keeps the tag keys of workspaces and their values. */
export class TagService {
  readonly #database: Database;

  constructor(options: { database: Database }) {
    this.#database = options.database;
  }

  async listKeys(tenant: Tenant): Promise<TagKey[]> {
    return (await tagStore.listKeys(this.#database.prisma, tenant)).map(renderTagKey);
  }

  async listWithValues(tenant: Tenant): Promise<TagKeyWithValues[]> {
    const rows = await tagStore.listKeysWithValues(this.#database.prisma, tenant);
    return rows.map(({ values, ...key }) => ({ ...renderTagKey(key), values: values.map(renderTagValue) }));
  }

  /** Returns the tags of a resource; none of a deployment that policies hide from the caller. */
  async listOfResource(
    caller: Principal,
    resource: { resourceType: string; resourceId: string },
  ): Promise<ResourceTag[]> {
    const tenant = tenantOf(caller);
    const [visible] = await filterVisible(this.#database.prisma, caller, [resource]);
    if (!visible) return [];
    const rows = await tagStore.listOfResource(this.#database.prisma, tenant, resource);
    return rows.map(({ values, ...key }) => ({
      ...renderTagKey(key),
      values: values.map(({ taggings, ...value }) => ({
        ...renderTagValue(value),
        taggings: taggings.map(renderTagging),
      })),
    }));
  }

  async getKey(tenant: Tenant, id: string): Promise<TagKey> {
    return renderTagKey(requireKey(await tagStore.findKey(this.#database.prisma, tenant, id)));
  }

  /** @throws ConflictError when the workspace has the key */
  createKey(caller: Principal, body: TagKeyCreate): Promise<TagKey> {
    return this.#change(body.key, async (transaction, audit) => {
      const tenant = await requireChangeableTags(transaction, caller, [toSqlText(body.key)]);
      const row = await transaction.tagKey.create({
        data: { ...tenant, id: uuidv7(), key: toSqlText(body.key), description: textOf(body.description) ?? null },
      });
      record(audit, tenant, { action: 'tag_key.created', resourceId: row.id, after: renderTagKey(row) });
      return renderTagKey(row);
    });
  }

  updateKey(caller: Principal, id: string, body: TagKeyUpdate): Promise<TagKey> {
    return this.#change(body.key, async (transaction, audit) => {
      const before = requireKey(await tagStore.findKey(transaction, tenantOf(caller), id));
      const tenant = await requireChangeableTags(transaction, caller, [before.key, toSqlText(body.key ?? before.key)]);
      const row = await transaction.tagKey.update({
        where: { id },
        data: { key: body.key && toSqlText(body.key), description: textOf(body.description) },
      });
      const after = renderTagKey(row);
      await publishTagChange(transaction, tenant.organizationId);
      record(audit, tenant, { action: 'tag_key.changed', resourceId: id, before: renderTagKey(before), after });
      return after;
    });
  }

  /** Deletes the key with its values, and takes them off all resources. */
  deleteKey(caller: Principal, id: string): Promise<TagKey> {
    return this.#change(undefined, async (transaction, audit) => {
      const before = renderTagKey(requireKey(await tagStore.findKey(transaction, tenantOf(caller), id)));
      const tenant = await requireChangeableTags(transaction, caller, [before.key]);
      await transaction.tagKey.deleteMany({ where: { ...tenant, id } });
      await publishTagChange(transaction, tenant.organizationId);
      record(audit, tenant, { action: 'tag_key.deleted', resourceId: id, before });
      return before;
    });
  }

  async listValues(tenant: Tenant, tagKeyId: string): Promise<TagValue[]> {
    requireKey(await tagStore.findKey(this.#database.prisma, tenant, tagKeyId));
    return (await tagStore.listValues(this.#database.prisma, tenant, tagKeyId)).map(renderTagValue);
  }

  async getValue(tenant: Tenant, tagKeyId: string, id: string): Promise<TagValue> {
    return renderTagValue(requireValue(await tagStore.findValue(this.#database.prisma, tenant, { id, tagKeyId })));
  }

  /** @throws ConflictError when the key has the value */
  createValue(caller: Principal, tagKeyId: string, body: TagValueCreate): Promise<TagValue> {
    return this.#change(body.value, async (transaction, audit) => {
      const { key } = requireKey(await tagStore.findKey(transaction, tenantOf(caller), tagKeyId));
      const tenant = await requireChangeableTags(transaction, caller, [key]);
      const row = await transaction.tagValue.create({
        data: {
          id: uuidv7(),
          tagKeyId,
          value: toSqlText(body.value),
          description: textOf(body.description) ?? null,
        },
      });
      record(audit, tenant, { action: 'tag_value.created', resourceId: row.id, after: renderTagValue(row) });
      return renderTagValue(row);
    });
  }

  updateValue(caller: Principal, tagKeyId: string, id: string, body: TagValueUpdate): Promise<TagValue> {
    return this.#change(body.value, async (transaction, audit) => {
      const before = requireValue(await tagStore.findValue(transaction, tenantOf(caller), { id, tagKeyId }));
      const tenant = await requireChangeableTags(transaction, caller, [before.key.key]);
      const row = await transaction.tagValue.update({
        where: { id },
        data: { value: body.value && toSqlText(body.value), description: textOf(body.description) },
      });
      const after = renderTagValue(row);
      await publishTagChange(transaction, tenant.organizationId);
      record(audit, tenant, { action: 'tag_value.changed', resourceId: id, before: renderTagValue(before), after });
      return after;
    });
  }

  /** Deletes the value, and takes it off all resources. */
  deleteValue(caller: Principal, tagKeyId: string, id: string): Promise<TagValue> {
    return this.#change(undefined, async (transaction, audit) => {
      const row = requireValue(await tagStore.findValue(transaction, tenantOf(caller), { id, tagKeyId }));
      const before = renderTagValue(row);
      const tenant = await requireChangeableTags(transaction, caller, [row.key.key]);
      await transaction.tagValue.deleteMany({ where: { id, key: tenant } });
      await publishTagChange(transaction, tenant.organizationId);
      record(audit, tenant, { action: 'tag_value.deleted', resourceId: id, before });
      return before;
    });
  }

  async #change<Result>(name: string | undefined, work: Work<Result>): Promise<Result> {
    try {
      return await this.#database.transact(audited(work));
    } catch (error) {
      if (isTaken(error)) {
        throw new ConflictError(`${JSON.stringify(name)} already exists`, { code: 'tag_exists', cause: error });
      }
      // A concurrent request deleted the key.
      if (isParentGone(error) || isRowGone(error)) throw keyNotFound();
      throw error;
    }
  }
}

function record(
  audit: AuditRecorder,
  { organizationId, workspaceId }: Tenant,
  event: { action: `tag_${'key' | 'value'}.${string}`; resourceId: string; before?: object; after?: object },
): void {
  audit.record(organizationId, { ...event, resourceType: event.action.split('.')[0]!, workspaceId });
}

/** Undefined changes nothing, null clears. */
function textOf(description: string | null | undefined): string | null | undefined {
  return typeof description === 'string' ? toSqlText(description) : description;
}

function isRowGone(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'P2025';
}

function requireKey<Row>(row: Row | null): Row {
  if (row === null) throw keyNotFound();
  return row;
}

function requireValue<Row>(row: Row | null): Row {
  if (row === null) throw new NotFoundError('Tag value not found');
  return row;
}

const keyNotFound = () => new NotFoundError('Tag key not found');
