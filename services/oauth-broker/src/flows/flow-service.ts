import { randomUUID } from 'node:crypto';
import { isUuid, type WaitResponse } from '@runyard/contracts';
import type { Cipher } from '@runyard/encryption';
import {
  BadRequestError,
  ForbiddenError,
  hasPermission,
  type Logger,
  type Principal,
  tenantOf,
} from '@runyard/service-kit';
import type { Signals } from '@runyard/signals';
import { generateRandomCodeVerifier } from 'oauth4webapi';
import type { Database } from '../database/database.ts';
import { placeOf } from '../database/encryption-places.ts';
import type { OAuthFlow, OAuthProvider } from '../generated/client.ts';
import { ProviderRefusedError, ProviderUnavailableError } from '../protocol/errors.ts';
import type { ClientRenewal } from '../providers/client-renewal.ts';
import type { ProviderClients } from '../providers/provider-clients.ts';
import type { RedirectUris } from '../providers/redirect-uris.ts';
import type { GrantedTokens } from '../tokens/granted-tokens.ts';
import type { TokenRefresh } from '../tokens/token-refresh.ts';
import { isSecretOf, makeState, readState } from './flow-state.ts';

/** Milliseconds for which the result of a flow can be read. */
const KEPT_MS = 24 * 3_600_000;

type FlowWithProvider = OAuthFlow & { provider: OAuthProvider };

/** A flow that a person can begin. */
export type StartableFlow = FlowWithProvider;

interface Dependencies {
  database: Database;
  cipher: Cipher;
  clients: ProviderClients;
  renewal: ClientRenewal;
  tokens: GrantedTokens;
  refresh: TokenRefresh;
  signals: Signals;
  redirectUris: RedirectUris;
  logger: Logger;
  ttlMs: number;
}

export interface FlowRequest {
  provider: OAuthProvider;
  /** One of the caller's own users; empty: the caller itself. */
  subject: string;
  scopes: string[];
  isDefault: boolean;
  /** The token that the flow replaces. */
  renewsTokenId: string | null;
}

export interface CallbackAnswer {
  code?: string;
  state?: string;
  error?: string;
  error_description?: string;
  iss?: string;
}

/**
 * Runs authorization flows, from the page where a person begins to the callback. Their state is valid once, for one
 * provider, for a limited time, and in the browser that began: whoever has the address of a flow could else let others
 * finish it. With a front end it is valid for the user who requested it.
 */
export class FlowService {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Makes a flow, and returns the address that a person has to visit. */
  async create(caller: Principal, request: FlowRequest): Promise<{ url: string; auth_id: string }> {
    const { database, cipher, clients, renewal, redirectUris, ttlMs } = this.#dependencies;
    const { subject, scopes, isDefault, renewsTokenId } = request;
    const provider = await renewal.renewIfDue(request.provider);
    const id = randomUUID();
    const codeVerifier = (await clients.usesPkce(provider)) ? generateRandomCodeVerifier() : null;
    const redirectUri = redirectUris.uriOf(provider.providerId);
    // Without a front end no browser has this state: beginning replaces it.
    const { state, digest } = makeState(id, null);
    const { prisma } = database;
    await prisma.oAuthFlow.deleteMany({ where: { expiresAt: { lt: new Date(Date.now() - KEPT_MS) } } });
    await prisma.oAuthFlow.create({
      data: {
        id,
        organizationId: caller.organizationId,
        // A token for a whole workspace requires the permission to give its agents tokens.
        workspaceId: hasPermission(caller, 'deployments:update') ? tenantOf(caller).workspaceId : null,
        owner: caller.identity,
        subject,
        provider: { connect: { id: provider.id } },
        personId: subject === '' && redirectUris.isOwn(redirectUri) ? (caller.personId ?? null) : null,
        stateDigest: digest,
        encryptedCodeVerifier: codeVerifier === null ? null : cipher.encrypt(codeVerifier, placeOf.codeVerifier(id)),
        ...(provider.isDynamicClient ? clientOf(provider) : {}),
        redirectUri,
        scopes,
        isDefault,
        renewsTokenId,
        status: 'pending',
        expiresAt: new Date(Date.now() + ttlMs),
      },
    });
    if (redirectUris.isOwn(redirectUri)) return { url: redirectUris.startOf(id), auth_id: id };
    const client = await clients.openClient(provider);
    return { url: await client.authorizationUrl({ state, redirectUri, scopes, codeVerifier }), auth_id: id };
  }

  /** Returns a flow that waits for a person, and that no front end finishes. @throws BadRequestError */
  async findStartable(authId: string): Promise<StartableFlow> {
    const { database, redirectUris } = this.#dependencies;
    const flow = isUuid(authId)
      ? await database.prisma.oAuthFlow.findFirst({
          where: { id: authId.toLowerCase(), status: 'pending', expiresAt: { gt: new Date() } },
          include: { provider: true },
        })
      : null;
    if (!flow || !redirectUris.isOwn(flow.redirectUri)) throw usedError();
    return flow;
  }

  /** Binds the flow to the browser, and returns the address at the provider. @throws BadRequestError */
  async begin(flow: StartableFlow, browser: string): Promise<string> {
    const { database, cipher, clients } = this.#dependencies;
    const { id, redirectUri, scopes, encryptedCodeVerifier } = flow;
    const { state, digest } = makeState(id, browser);
    const { count } = await database.prisma.oAuthFlow.updateMany({
      where: { id, status: 'pending' },
      data: { stateDigest: digest },
    });
    if (count === 0) throw usedError();
    const client = await clients.openClient(providerOf(flow));
    const codeVerifier =
      encryptedCodeVerifier === null ? null : cipher.decrypt(encryptedCodeVerifier, placeOf.codeVerifier(id));
    return client.authorizationUrl({ state, redirectUri, scopes, codeVerifier });
  }

  /**
   * Finishes a flow in the browser that comes from the provider.
   *
   * @param browser the secret of the browser; null when it has none
   * @throws BadRequestError, ProviderRefusedError, ProviderUnavailableError
   */
  async finishInBrowser(providerId: string, answer: CallbackAnswer, browser: string | null): Promise<void> {
    const { flow, secret } = await this.#find(providerId, answer.state);
    if (!this.#dependencies.redirectUris.isOwn(flow.redirectUri)) {
      throw new BadRequestError('This authorization has to be finished by the page that the provider sends people to.');
    }
    if (browser === null || !isSecretOf(flow.stateDigest, secret, browser)) {
      throw new BadRequestError('This authorization is not known in this browser. Begin it again.', {
        code: 'oauth_flow_invalid',
      });
    }
    await this.#finish(flow, answer);
  }

  /** @throws BadRequestError, ForbiddenError, ProviderRefusedError, ProviderUnavailableError */
  async finishByFrontEnd(providerId: string, answer: CallbackAnswer, caller: Principal): Promise<void> {
    const { flow, secret } = await this.#find(providerId, answer.state);
    if (this.#dependencies.redirectUris.isOwn(flow.redirectUri)) {
      throw new BadRequestError('This authorization is finished by the browser that began it.');
    }
    if (!isSecretOf(flow.stateDigest, secret, null)) throw unknownError();
    if (caller.identity !== flow.owner || caller.organizationId !== flow.organizationId) {
      throw new ForbiddenError('This authorization was begun by another user.', { code: 'oauth_flow_of_other_user' });
    }
    await this.#finish(flow, answer);
  }

  async #finish(flow: FlowWithProvider, answer: CallbackAnswer): Promise<void> {
    await this.#take(flow);
    try {
      await this.#exchange(flow, answer);
    } catch (error) {
      await this.#dependencies.database.prisma.oAuthFlow.updateMany({
        where: { id: flow.id },
        data: { status: 'failed' },
      });
      throw error;
    } finally {
      this.#dependencies.signals.send(signalOf(flow.id));
    }
  }

  /** Waits until the flow is finished or the time has passed. Only the user who began it gets its result. */
  async wait(caller: Principal, authId: string, timeoutMs: number, signal: AbortSignal): Promise<WaitResponse> {
    if (!isUuid(authId)) return { status: 'not_found' };
    const { database, signals } = this.#dependencies;
    const id = authId.toLowerCase();
    const until = Date.now() + timeoutMs;
    const listening = signals.listen(signalOf(id));
    try {
      for (;;) {
        const { organizationId, identity: owner } = caller;
        const flow = await database.prisma.oAuthFlow.findFirst({ where: { id, organizationId, owner } });
        if (!flow || flow.status === 'failed') return { status: 'not_found' };
        if (flow.status === 'completed') return this.#completed(flow);
        const now = Date.now();
        if (flow.expiresAt.getTime() <= now) return { status: 'not_found' };
        if (timeoutMs === 0) return { status: 'pending' };
        if (now >= until || signals.isDraining || signal.aborted) return { status: 'timeout' };
        await listening.next(Math.min(until, flow.expiresAt.getTime()) - now, signal);
      }
    } finally {
      listening.stop();
    }
  }

  async #completed({ tokenId }: OAuthFlow): Promise<WaitResponse> {
    try {
      const usable = tokenId === null ? null : await this.#dependencies.refresh.findUsable(tokenId);
      return usable ? { status: 'completed', token: usable.accessToken } : { status: 'not_found' };
    } catch (error) {
      // The token has already expired, and its provider is unavailable. The next request may succeed.
      if (error instanceof ProviderUnavailableError) return { status: 'timeout' };
      throw error;
    }
  }

  /** Returns the flow that a state names, and its secret, which is to be checked. */
  async #find(providerId: string, state: string | undefined): Promise<{ flow: FlowWithProvider; secret: string }> {
    const { flowId, secret } = readState(state);
    const flow = isUuid(flowId)
      ? await this.#dependencies.database.prisma.oAuthFlow.findUnique({
          where: { id: flowId.toLowerCase() },
          include: { provider: true },
        })
      : null;
    if (flow?.provider.providerId !== providerId) throw unknownError();
    return { flow, secret };
  }

  /** Claims the flow. Of several requests with the same state, one continues. */
  async #take({ id }: OAuthFlow): Promise<void> {
    const { count } = await this.#dependencies.database.prisma.oAuthFlow.updateMany({
      where: { id, status: 'pending', expiresAt: { gt: new Date() } },
      data: { status: 'exchanging' },
    });
    if (count === 0) throw usedError();
  }

  async #exchange(flow: FlowWithProvider, answer: CallbackAnswer): Promise<void> {
    const { cipher, clients, tokens, logger } = this.#dependencies;
    const { redirectUri, encryptedCodeVerifier } = flow;
    const provider = providerOf(flow);
    if (answer.error !== undefined) {
      throw new ProviderRefusedError(provider.providerId, answer.error, answer.error_description);
    }
    if (!answer.code) throw new BadRequestError('The provider sent no authorization code.');
    const client = await clients.openClient(provider);
    const grant = await client.exchange({
      parameters: { code: answer.code, ...(answer.iss === undefined ? {} : { iss: answer.iss }) },
      redirectUri,
      codeVerifier:
        encryptedCodeVerifier === null ? null : cipher.decrypt(encryptedCodeVerifier, placeOf.codeVerifier(flow.id)),
    });
    if (await tokens.store(flow, grant)) return;
    // The token is stored nowhere, so it could not be revoked later.
    await client.revokeBoth(grant).catch((error: unknown) => {
      logger.warn('surplus OAuth token not revoked', { providerId: provider.providerId, error });
    });
    throw new BadRequestError('This authorization was ended meanwhile. Begin it again.', {
      code: 'oauth_flow_invalid',
    });
  }
}

/** Returns the provider with the client of the flow: the code is valid for that client only, even if it was renewed. */
function providerOf({ provider, ...flow }: FlowWithProvider): OAuthProvider {
  const { clientId, encryptedClientSecret, tokenEndpointAuthMethod } = flow;
  if (clientId === null || tokenEndpointAuthMethod === null || clientId === provider.clientId) return provider;
  return { ...provider, clientId, encryptedClientSecret, tokenEndpointAuthMethod };
}

function clientOf({ clientId, encryptedClientSecret, tokenEndpointAuthMethod }: OAuthProvider) {
  return { clientId, encryptedClientSecret, tokenEndpointAuthMethod };
}

const signalOf = (id: string) => `flow ${id}`;

function unknownError(): BadRequestError {
  return new BadRequestError('This authorization is not known. Begin it again.', { code: 'oauth_flow_invalid' });
}

function usedError(): BadRequestError {
  return new BadRequestError('This authorization was used before, or is too old. Begin it again.', {
    code: 'oauth_flow_invalid',
  });
}
