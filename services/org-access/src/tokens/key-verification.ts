import type { VerifyKeyRequest, VerifyKeyResponse } from '@runyard/contracts';
import { isUuid } from '@runyard/contracts';
import { ForbiddenError, UnauthorizedError } from '@runyard/service-kit';
import { accessOf } from '../access/access.ts';
import { organizationRoleName } from '../access/platform-roles.ts';
import { readingAccess } from '../access/read-only.ts';
import { hashKey, isWellFormedKey, type KeyKind } from '../api-keys/key-format.ts';
import type { LastUse } from '../api-keys/last-use.ts';
import type { PrismaClient } from '../generated/client.ts';
import type { PrincipalTokens } from './principal-tokens.ts';

/** Exchanges a key for a principal token, which names the caller, the workspace and the permissions. */
export class KeyVerification {
  readonly #prisma: PrismaClient;
  readonly #tokens: PrincipalTokens;
  readonly #lastUse: LastUse;

  constructor(options: { prisma: PrismaClient; tokens: PrincipalTokens; lastUse: LastUse }) {
    this.#prisma = options.prisma;
    this.#tokens = options.tokens;
    this.#lastUse = options.lastUse;
  }

  /**
   * Without a requested workspace, the key acts in its default one, or in the only one it reaches. A key of the whole
   * organization without a default acts in none.
   *
   * @throws UnauthorizedError for a key that is unknown, revoked or expired
   * @throws ForbiddenError when the key does not reach the requested workspace
   */
  async verify(request: VerifyKeyRequest): Promise<VerifyKeyResponse> {
    const key = await this.#find(request.key);
    const { organizationId, identityId } = key;
    const workspaceId = request.workspace_id
      ? asWorkspaceId(request.workspace_id)
      : (key.defaultWorkspaceId ?? (await this.#onlyWorkspace(organizationId, identityId)));
    const accessOfIdentity = await accessOf(this.#prisma, { organizationId, identityId, workspaceId });
    if (!accessOfIdentity) throw new UnauthorizedError('Invalid API key');
    const access = key.readOnly ? readingAccess(accessOfIdentity) : accessOfIdentity;
    if (request.workspace_id && !access.workspace) throw outOfReach(request.workspace_id);

    this.#lastUse.note(key.id);
    return this.#tokens.sign(
      {
        sub: identityId,
        aud: request.audience,
        organization_id: organizationId,
        ...(workspaceId && access.workspace ? { workspace_id: workspaceId } : {}),
        kind: key.kind as KeyKind,
        key_id: key.id,
        plan: access.plan,
        organization_role: organizationRoleName(access.organizationRoleId),
        permissions: [...access.organization, ...(access.workspace ?? [])].sort(),
        ...(key.readOnly ? { read_only: true } : {}),
      },
      key.expiresAt,
    );
  }

  async #find(text: string) {
    const key = isWellFormedKey(text)
      ? await this.#prisma.apiKey.findUnique({ where: { keySha256: hashKey(text) } })
      : null;
    if (!key || key.revokedAt) throw new UnauthorizedError('Invalid API key');
    if (key.expiresAt && key.expiresAt.getTime() <= Date.now()) throw new UnauthorizedError('API key has expired');
    return key;
  }

  /** A key with a single workspace need not name it. */
  async #onlyWorkspace(organizationId: string, identityId: string): Promise<string | null> {
    const identity = await this.#prisma.identity.findUnique({
      where: { organizationId_id: { organizationId, id: identityId } },
      select: { everywhereRoleId: true, members: { select: { workspaceId: true }, take: 2 } },
    });
    const [first, second] = identity?.everywhereRoleId ? [] : (identity?.members ?? []);
    return first && !second ? first.workspaceId : null;
  }
}

function asWorkspaceId(text: string): string {
  if (!isUuid(text)) throw outOfReach(text);
  return text.toLowerCase();
}

/** Answers alike for a workspace of others and one that does not exist. */
function outOfReach(workspaceId: string): ForbiddenError {
  return new ForbiddenError(`The API key does not have access to workspace ${workspaceId.slice(0, 64)}`);
}
