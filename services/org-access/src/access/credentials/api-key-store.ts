import type { Queries } from '../../database/database.ts';
import type { Prisma } from '../../generated/client.ts';
import type { KeyKind } from './key-format.ts';

/** A key with the fields of a list. */
export interface StoredKey {
  id: string;
  identityId: string;
  kind: string;
  shortKey: string;
  description: string;
  readOnly: boolean;
  createdAt: Date;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  defaultWorkspaceId: string | null;
  defaultWorkspace: { displayName: string } | null;
  createdBy: string | null;
  identity: {
    organizationRoleId: string;
    showsOrganizationRole: boolean;
    everywhereRoleId: string | null;
    isBootstrap: boolean;
    isStandalone: boolean;
    members: { workspaceId: string; roleId: string; workspace: { displayName: string } }[];
  };
}

const LISTED_RELATIONS = {
  defaultWorkspace: { select: { displayName: true } },
  identity: {
    select: {
      organizationRoleId: true,
      showsOrganizationRole: true,
      everywhereRoleId: true,
      isBootstrap: true,
      isStandalone: true,
      members: {
        select: { workspaceId: true, roleId: true, workspace: { select: { displayName: true } } },
        orderBy: [{ createdAt: 'asc' }, { workspaceId: 'asc' }],
      },
    },
  },
} satisfies Prisma.ApiKeyInclude;

export interface NewKey {
  id: string;
  identityId: string;
  kind: KeyKind;
  keySha256: Uint8Array<ArrayBuffer>;
  shortKey: string;
  description: string;
  readOnly: boolean;
  expiresAt: Date | null;
  defaultWorkspaceId: string | null;
  createdBy: string | null;
  /** The key or session that a personal token ends with. */
  madeWith?: string | null;
}

export const apiKeyStore = {
  insert(queries: Queries, organizationId: string, key: NewKey): Promise<StoredKey> {
    return queries.apiKey.create({ data: { ...key, organizationId }, include: LISTED_RELATIONS });
  },

  /** Lists keys that were not revoked, the newest first. */
  list(queries: Queries, organizationId: string, filter: { kind: KeyKind; identityId?: string }): Promise<StoredKey[]> {
    return queries.apiKey.findMany({
      where: { organizationId, revokedAt: null, ...filter },
      include: LISTED_RELATIONS,
      orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
    });
  },

  find(queries: Queries, organizationId: string, key: { id: string; kind: KeyKind }): Promise<StoredKey | null> {
    return queries.apiKey.findFirst({ where: { organizationId, revokedAt: null, ...key }, include: LISTED_RELATIONS });
  },

  /** Ends a key at a time, and the tokens made with it, as far as they do not end before. */
  async expire(queries: Queries, organizationId: string, keyId: string, at: Date): Promise<void> {
    for (let ids = [keyId]; ids.length > 0; ids = await apiKeyStore.idsMadeWith(queries, organizationId, ids))
      await queries.apiKey.updateMany({
        where: { organizationId, id: { in: ids }, OR: [{ expiresAt: null }, { expiresAt: { gt: at } }] },
        data: { expiresAt: at },
      });
  },

  /** Returns the key as it was; null when another request was faster. */
  async revoke(queries: Queries, organizationId: string, keyId: string): Promise<StoredKey | null> {
    const { count } = await queries.apiKey.updateMany({
      where: { organizationId, id: keyId, revokedAt: null },
      data: { revokedAt: new Date() },
    });
    if (count === 0) return null;
    return queries.apiKey.findFirst({ where: { organizationId, id: keyId }, include: LISTED_RELATIONS });
  },

  /** Returns the ids of tokens that were made with keys, and not revoked. */
  async idsMadeWith(queries: Queries, organizationId: string, keyIds: readonly string[]): Promise<string[]> {
    const tokens = await queries.apiKey.findMany({
      where: { organizationId, madeWith: { in: [...keyIds] }, revokedAt: null },
      select: { id: true },
    });
    return tokens.map(({ id }) => id);
  },

  /** Returns the ids of an identity's keys that were not revoked: of all, or of those of one kind. */
  async idsOf(queries: Queries, organizationId: string, identityId: string, kind?: KeyKind): Promise<string[]> {
    const keys = await queries.apiKey.findMany({
      where: { organizationId, identityId, revokedAt: null, ...(kind && { kind }) },
      select: { id: true },
    });
    return keys.map((key) => key.id);
  },
};
