import type { VerifyKeyRequest, VerifyKeyResponse } from '@runyard/contracts';
import { isUuid } from '@runyard/contracts';
import { ForbiddenError, UnauthorizedError } from '@runyard/service-kit';
import { accessOf } from '../../access/access.ts';
import { isWellFormedKey, type KeyKind } from '../../access/credentials/key-format.ts';
import { isKnownToBeDeleted } from '../../access/known-deletion.ts';
import { organizationRoleName } from '../../access/platform-roles.ts';
import { restrictToReading } from '../../access/read-only.ts';
import { permissionsForAudience } from '../../access/resource-permissions.ts';
import { hashSecret } from '../../database/hash-secret.ts';
import type { UseRecorder } from '../../database/use-recorder.ts';
import type { PrismaClient } from '../../generated/client.ts';
import type { PrincipalTokens } from './principal-tokens.ts';

/** Exchanges a key for a principal token, which names the caller, the workspace and the permissions. */
export class KeyVerifier {
  readonly #prisma: PrismaClient;
  readonly #tokens: PrincipalTokens;
  readonly #lastUse: UseRecorder;

  constructor(options: { prisma: PrismaClient; tokens: PrincipalTokens; lastUse: UseRecorder }) {
    this.#prisma = options.prisma;
    this.#tokens = options.tokens;
    this.#lastUse = options.lastUse;
  }

  /**
   * Without a requested workspace, the key acts in its default one, or in the only one it reaches. A key of the whole
   * organization without a default acts in none, and so does one of an administrator in a deleted workspace.
   *
   * @throws UnauthorizedError for a key that is unknown, revoked or expired
   * @throws ForbiddenError when the key does not reach the requested workspace
   */
  async verify(request: VerifyKeyRequest): Promise<VerifyKeyResponse> {
    const key = await this.#find(request.key);
    const { organizationId, identityId } = key;
    const requested = request.workspace_id || undefined;
    const workspaceId = requested
      ? parseWorkspaceId(requested)
      : (key.defaultWorkspaceId ?? (await this.#onlyWorkspace(organizationId, identityId)));
    const accessOfIdentity = await accessOf(this.#prisma, { organizationId, identityId, workspaceId });
    if (!accessOfIdentity) throw new UnauthorizedError('Invalid API key', { code: 'api_key_invalid' });
    const access = key.readOnly ? restrictToReading(accessOfIdentity) : accessOfIdentity;
    const isUnreached = workspaceId !== null && requested !== undefined && !access.workspace;
    const { audience } = request;
    if (isUnreached && !(await isKnownToBeDeleted(this.#prisma, access, { organizationId, workspaceId, audience })))
      throw workspaceForbidden(requested);

    this.#lastUse.record(key.id);
    const { workspace, claims } = await permissionsForAudience(
      this.#prisma,
      { organizationId, workspaceId, audience },
      access,
      { isReadOnly: key.readOnly },
    );
    const principal = await this.#tokens.sign(
      {
        sub: identityId,
        aud: audience,
        organization_id: organizationId,
        ...(workspaceId && access.workspace ? { workspace_id: workspaceId } : {}),
        ...(isUnreached ? { workspace_deleted: true } : {}),
        kind: key.kind as KeyKind,
        key_id: key.id,
        ...(key.identity.personId === null ? {} : { person_id: key.identity.personId }),
        plan: access.plan,
        organization_role: organizationRoleName(access.organizationRoleId),
        permissions: [...access.organization, ...workspace].sort(),
        ...claims,
        ...(key.readOnly ? { read_only: true } : {}),
      },
      key.expiresAt,
    );
    return { ...principal, ...(access.allowedNetworks && { allowed_networks: access.allowedNetworks }) };
  }

  async #find(text: string) {
    const key = isWellFormedKey(text)
      ? await this.#prisma.apiKey.findUnique({
          where: { keySha256: hashSecret(text) },
          include: { identity: { select: { personId: true } } },
        })
      : null;
    if (!key || key.revokedAt) throw new UnauthorizedError('Invalid API key', { code: 'api_key_invalid' });
    if (key.expiresAt && key.expiresAt.getTime() <= Date.now())
      throw new UnauthorizedError('API key has expired', { code: 'api_key_expired' });
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

function parseWorkspaceId(text: string): string {
  if (!isUuid(text)) throw workspaceForbidden(text);
  return text.toLowerCase();
}

/** Answers alike for a workspace of others and one that does not exist. */
function workspaceForbidden(workspaceId: string): ForbiddenError {
  return new ForbiddenError(`The API key does not have access to workspace ${workspaceId.slice(0, 64)}`, {
    code: 'workspace_out_of_reach',
  });
}
