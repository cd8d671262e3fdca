import { type AuthenticateRequest, type AuthenticateResponse, isUuid } from '@runyard/contracts';
import { toSqlText } from '@runyard/database';
import { BadRequestError, hasPermission, NotFoundError, type Principal, tenantOf } from '@runyard/service-kit';
import type { AgentDeployment, AgentDeployments } from '../agents/agent-deployments.ts';
import type { Database } from '../database/database.ts';
import type { OAuthProvider, OAuthToken } from '../generated/client.ts';
import type { IdentityReach } from '../identity-reach.ts';
import type { ProviderService } from '../providers/provider-service.ts';
import type { TokenRefresh } from '../tokens/token-refresh.ts';
import { tokenStore } from '../tokens/token-store.ts';
import type { FlowService } from './flow-service.ts';

interface TokenQuery {
  caller: Principal;
  body: AuthenticateRequest;
  provider: OAuthProvider;
  /** One of the caller's own users; empty: the caller itself. */
  subject: string;
  /** Another user of the organization whose token is requested. */
  other: string | null;
  /** The deployment whose code asks; null: the caller may be anybody. */
  deployment: AgentDeployment | null;
}

/**
 * Chooses a caller's token: first those it connected to its agent, then its own, then those that others connected to
 * the agent, then the workspace's. Somebody else's token is used only by a connection that this person made, and given
 * only to the deployment that is the agent: whoever has a token can act as its owner anywhere.
 */
export class Authentication {
  readonly #database: Database;
  readonly #providers: ProviderService;
  readonly #flows: FlowService;
  readonly #refresh: TokenRefresh;
  readonly #reach: Pick<IdentityReach, 'reaches'>;
  readonly #deployments: Pick<AgentDeployments, 'find'>;

  constructor(options: {
    database: Database;
    providers: ProviderService;
    flows: FlowService;
    refresh: TokenRefresh;
    reach: Pick<IdentityReach, 'reaches'>;
    deployments: Pick<AgentDeployments, 'find'>;
  }) {
    this.#database = options.database;
    this.#providers = options.providers;
    this.#flows = options.flows;
    this.#refresh = options.refresh;
    this.#reach = options.reach;
    this.#deployments = options.deployments;
  }

  /**
   * @param deploymentToken proves that the code of a deployment asks
   * @throws ForbiddenError when it proves nothing; UnavailableError when that cannot be asked
   */
  async authenticate(
    caller: Principal,
    body: AuthenticateRequest,
    deploymentToken?: string,
  ): Promise<AuthenticateResponse> {
    if (body.use_agent_builder_public_oauth) {
      throw new BadRequestError('This platform has no public OAuth applications: create a provider, and name it.');
    }
    const deployment =
      deploymentToken === undefined ? null : await this.#deployments.find(caller, deploymentToken, body.agent_id);
    const provider = await this.#providers.find(caller.organizationId, body.provider);
    const isItself = body.user_id == null || body.user_id === caller.identity;
    const asked = {
      caller,
      body,
      provider,
      deployment,
      subject: isItself ? '' : toSqlText(body.user_id!),
      other: body.ls_user_id == null || body.ls_user_id === caller.identity ? null : body.ls_user_id,
    };
    const userId = body.user_id ?? asked.other ?? caller.identity;
    if (body.force_new) {
      if (asked.other !== null)
        throw new BadRequestError('Only a user itself can give a new token: leave out ls_user_id.');
      return { ...(await this.#begin(asked, 'pending')), user_id: userId };
    }
    return { ...(await this.#answer(asked)), user_id: userId };
  }

  async #answer(asked: TokenQuery): Promise<AuthenticateResponse> {
    const { scopes } = asked.body;
    const candidates = await this.#candidates(asked);
    const own = candidates.filter((token) => isOwn(token, asked));
    let ended: OAuthToken | undefined;
    for (const token of candidates.filter((each) => hasScopes(each, scopes))) {
      if (!(await this.#isOwnerReachable(token, asked.caller))) continue;
      const usable = await this.#refresh.findUsable(token.id);
      if (usable) {
        return { status: 'completed', token: usable.accessToken, metadata: usable.metadata };
      }
      ended ??= token;
    }
    if (asked.other !== null) return { status: ended ? 'token_expired' : 'connection_required' };
    if (!ended) return this.#begin(asked, 'pending', own[0]);
    return isOwn(ended, asked) ? this.#begin(asked, 'token_expired', ended) : { status: 'token_expired' };
  }

  /**
   * Returns whether the token may still be returned to this caller: a person's token serves others only as long as that
   * person reaches the workspace. Tokens of agents have no owner, and those of the workspace do not depend on theirs.
   */
  async #isOwnerReachable({ owner, workspaceId }: OAuthToken, caller: Principal): Promise<boolean> {
    if (owner === null || owner === caller.identity) return true;
    // Only callers in a workspace get the tokens of others.
    const here = caller.workspaceId!;
    if (workspaceId === here) return true;
    return this.#reach.reaches({
      organization_id: caller.organizationId,
      workspace_id: here,
      identity_id: owner,
    });
  }

  async #candidates(asked: TokenQuery): Promise<OAuthToken[]> {
    const { caller, body, provider, subject, other } = asked;
    const { prisma } = this.#database;
    const own = other === null ? await tokenStore.listOfSubject(prisma, caller, provider.id, subject) : [];
    const connected = await this.#connected(asked);
    if (other !== null)
      return filterRequested(
        connected.filter(({ owner }) => isUuid(other) && owner === other.toLowerCase()),
        body,
      );
    const ofWorkspace =
      asked.deployment && hasPermission(caller, 'runs:create')
        ? await tokenStore.listOfWorkspace(prisma, tenantOf(caller), provider.id)
        : [];
    const [byCaller, byOthers] = [
      connected.filter((token) => isOwn(token, asked)),
      connected.filter((token) => !isOwn(token, asked)),
    ];
    return filterRequested([...byCaller, ...own, ...byOthers, ...ofWorkspace], body);
  }

  /** Lists the tokens that were connected to the agent: its own of a caller that may be anybody. */
  async #connected(asked: TokenQuery): Promise<OAuthToken[]> {
    const { caller, body, provider, deployment } = asked;
    if (!hasPermission(caller, 'runs:create') || caller.workspaceId === undefined) return [];
    const { prisma } = this.#database;
    if (deployment) {
      return tokenStore.listOfAgents(prisma, tenantOf(caller), deployment.agents, provider.id);
    }
    if (body.agent_id == null) return [];
    const connected = await tokenStore.listOfAgents(
      prisma,
      tenantOf(caller),
      [{ agentId: body.agent_id }],
      provider.id,
    );
    return connected.filter((token) => isOwn(token, asked));
  }

  /** Begins a flow. It also requests the scopes of the token it replaces, since others may rely on them. */
  async #begin(
    { caller, body, provider, subject }: TokenQuery,
    status: 'pending' | 'token_expired',
    renews?: OAuthToken,
  ): Promise<AuthenticateResponse> {
    const flow = await this.#flows.create(caller, {
      provider,
      subject,
      scopes: [...new Set([...body.scopes, ...(renews?.askedScopes ?? [])])],
      isDefault: body.is_default ?? true,
      renewsTokenId: renews?.id ?? null,
    });
    return { status, ...flow };
  }
}

function isOwn(token: OAuthToken, { caller, subject }: TokenQuery): boolean {
  return token.owner === caller.identity && token.subject === subject;
}

/** @throws NotFoundError when the requested token is not among them */
function filterRequested(tokens: OAuthToken[], { token_id: id }: AuthenticateRequest): OAuthToken[] {
  const candidates = [...new Map(tokens.map((token) => [token.id, token])).values()];
  if (id == null) return candidates;
  const found = candidates.filter((token) => token.id === id.toLowerCase());
  if (found.length === 0) throw new NotFoundError('OAuth token not found.');
  return found;
}

/**
 * Returns whether the token has the wanted scopes. A scope that a person refused to grant counts too, because another
 * request would change nothing. The scopes of an imported token may be unknown; then it is tried.
 */
function hasScopes({ scopes, askedScopes }: OAuthToken, wanted: readonly string[]): boolean {
  if (scopes.length === 0 && askedScopes.length === 0) return true;
  return wanted.every((scope) => scopes.includes(scope) || askedScopes.includes(scope));
}
