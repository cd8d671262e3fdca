import type { ApiKey, IssuedApiKey, PersonalTokenCreate } from '@runyard/contracts';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import { ForbiddenError, NotFoundError, type Principal } from '@runyard/service-kit';
import { apiKeyStore } from '../../access/credentials/api-key-store.ts';
import { issueKey, renderKey, revokeKeys } from '../../access/credentials/key-issue.ts';
import { accessOfCaller } from '../../access/read-only.ts';
import { audited } from '../../audit/audit-trail.ts';
import type { Database, Queries } from '../../database/database.ts';
import type { LiveSessions } from '../../sign-in/sessions/live-sessions.ts';
import { parseKeyFields, requireExpiryInTime } from './key-expiry.ts';
import { unknownWorkspace } from './service-accounts.ts';
import { lockTokenMaker } from './token-maker.ts';

/** Creates, lists and revokes the personal access tokens of the caller: a person, or a service account. */
export class PersonalTokenService {
  readonly #database: Database;
  readonly #sessions: LiveSessions;
  readonly #isCreationDisabled: boolean;

  /** @param options.isCreationDisabled forbids new tokens in every organization */
  constructor(options: { database: Database; sessions: LiveSessions; isCreationDisabled: boolean }) {
    this.#database = options.database;
    this.#sessions = options.sessions;
    this.#isCreationDisabled = options.isCreationDisabled;
  }

  /** Makes a token, which ends with the key or the program's session that the caller has. @throws UnauthorizedError */
  async create(caller: Principal, body: PersonalTokenCreate, keyed?: KeyedRequest): Promise<IssuedApiKey> {
    const defaultWorkspaceId = body.default_workspace_id?.toLowerCase() ?? caller.workspaceId ?? null;
    const fields = { ...parseKeyFields(body), kind: 'personal_token', identityId: caller.identity } as const;
    return this.#database.transact(
      withIdempotencyKey(
        keyed,
        audited(async (transaction, audit) => {
          const { organizationId } = caller;
          await this.#requireCreation(transaction, organizationId);
          const maker = await lockTokenMaker(transaction, this.#sessions, caller);
          await requireExpiryInTime(transaction, organizationId, fields);
          if (defaultWorkspaceId) {
            const access = await accessOfCaller(transaction, caller, defaultWorkspaceId);
            if (!access?.workspace) throw unknownWorkspace(defaultWorkspaceId, 'default_workspace_id');
          }
          return issueKey(transaction, audit, organizationId, {
            ...fields,
            defaultWorkspaceId,
            expiresAt: earlierOf(fields.expiresAt, maker?.expiresAt ?? null),
            createdBy: caller.identity,
            madeWith: maker?.id ?? null,
          });
        }),
      ),
    );
  }

  async list(caller: Principal): Promise<ApiKey[]> {
    const filter = { kind: 'personal_token', identityId: caller.identity } as const;
    return (await apiKeyStore.list(this.#database.prisma, caller.organizationId, filter)).map(renderKey);
  }

  async delete(caller: Principal, keyId: string): Promise<ApiKey> {
    const id = keyId.toLowerCase();
    const key = await apiKeyStore.find(this.#database.prisma, caller.organizationId, { id, kind: 'personal_token' });
    if (!key || key.identityId !== caller.identity) throw new NotFoundError('API key not found');
    await this.#database.transact(
      audited((transaction, audit) => revokeKeys(transaction, audit, caller.organizationId, [key.id])),
    );
    return renderKey(key);
  }

  async #requireCreation(queries: Queries, organizationId: string): Promise<void> {
    const organization = await queries.organization.findUniqueOrThrow({ where: { id: organizationId } });
    if (!this.#isCreationDisabled && !organization.patCreationDisabled) return;
    throw new ForbiddenError('Personal access tokens are not enabled for this organization', {
      code: 'personal_tokens_disabled',
    });
  }
}

function earlierOf(one: Date | null, other: Date | null): Date | null {
  if (!one || !other) return one ?? other;
  return one < other ? one : other;
}
