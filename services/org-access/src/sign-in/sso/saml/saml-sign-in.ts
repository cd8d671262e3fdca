import { randomBytes } from 'node:crypto';
import type { Database } from '../../../database/database.ts';
import { isTaken } from '../../../database/is-taken.ts';
import type { Prisma, SsoProvider } from '../../../generated/client.ts';
import { readClaims } from '../claims.ts';
import type { VerifiedAnswer } from '../complete-sign-in.ts';
import type { PendingSignIns } from '../pending-sign-ins.ts';
import { samlOf } from '../provider-configuration.ts';
import { SignInRefusedError } from '../sign-in-refusal.ts';
import { chooseByDomain, type OwnsDomain, type SignedAnswer } from './choose-by-domain.ts';
import type { Assertion, SamlClient } from './saml-client.ts';
import { parseSamlResponse, type SamlResponse } from './saml-response.ts';

interface SamlVisit {
  requestId: string;
}

/** The facts of a visit whose response was checked, until the browser that began it comes back. */
interface CheckedVisit {
  assertion: Assertion;
}

/**
 * Sign-in by SAML 2.0. Responses come by a form of the provider's page, and browsers send no cookie with it. So the answer
 * to a request is checked and stored there, and the browser comes back for its session with its cookie.
 */
export class SamlSignIn {
  readonly #database: Database;
  readonly #client: SamlClient;
  readonly #pending: PendingSignIns;
  readonly #ownsDomain: OwnsDomain;

  constructor(options: { database: Database; client: SamlClient; pending: PendingSignIns; ownsDomain: OwnsDomain }) {
    this.#database = options.database;
    this.#client = options.client;
    this.#pending = options.pending;
    this.#ownsDomain = options.ownsDomain;
  }

  /** Returns where the browser goes. */
  async begin(provider: SsoProvider, browser: string, returnTo: string): Promise<string> {
    const requestId = `_${randomBytes(20).toString('hex')}`;
    const facts: SamlVisit = { requestId };
    const state = await this.#pending.begin({ providerId: provider.id, browser, returnTo, facts });
    return this.#client.signInUrl(provider, requestId, state);
  }

  /** Checks the response to a request. @returns the state with which the browser completes the visit */
  async receive(response: string, relayState: string): Promise<string> {
    const { provider, facts } = await this.#pending.read<Partial<SamlVisit>>(relayState);
    if (provider.protocol !== 'saml' || facts.requestId === undefined) throw new SignInRefusedError('answer_invalid');
    const assertion = await this.#client.readResponse(provider, parseSamlResponse(response), facts.requestId);
    const state = await this.#database
      .transact(async (transaction) => {
        await this.#use(transaction, provider, assertion);
        return this.#pending.replace(transaction, relayState, { assertion } satisfies CheckedVisit);
      })
      .catch(refuseReplay);
    if (state === null) throw new SignInRefusedError('sign_in_expired');
    return state;
  }

  /** Ends a visit whose response was checked. @throws SignInRefusedError */
  async complete(state: string, browser: string): Promise<{ answer: VerifiedAnswer; returnTo: string }> {
    const { provider, facts, returnTo } = await this.#pending.end<Partial<CheckedVisit>>(state, browser);
    if (!facts.assertion) throw new SignInRefusedError('answer_invalid');
    return { answer: toAnswer(provider, facts.assertion), returnTo };
  }

  /** Reads a response that nobody asked for: sign-in that began at the provider. @throws SignInRefusedError */
  async receiveUnasked(response: string): Promise<VerifiedAnswer> {
    const { provider, assertion } = await this.#findSigner(parseSamlResponse(response));
    await this.#database.transact((transaction) => this.#use(transaction, provider, assertion)).catch(refuseReplay);
    return toAnswer(provider, assertion);
  }

  /** Finds the one organization's provider that a response is from. @throws SignInRefusedError */
  async #findSigner(response: SamlResponse): Promise<SignedAnswer> {
    const providers = await this.#database.prisma.ssoProvider.findMany({
      where: {
        protocol: 'saml',
        isEnabled: true,
        configuration: { path: ['entityId'], equals: response.claimedIssuer },
      },
      include: { domains: true },
    });
    const open = providers.filter((provider) => samlOf(provider).idpInitiatedEnabled);
    const read = await Promise.allSettled(
      open.map(async (provider) => ({
        provider,
        assertion: await this.#client.readResponse(provider, response, null),
      })),
    );
    const valid = read.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const signer = valid.length > 1 ? await chooseByDomain(valid, this.#ownsDomain) : valid[0];
    if (signer) return signer;
    const failure = read.find((each) => each.status === 'rejected')?.reason;
    const cause = valid.length > 1 ? 'Of several organizations with this provider, not one owns the domain.' : failure;
    throw new SignInRefusedError('answer_invalid', { cause });
  }

  /** Uses an assertion up. @throws Prisma's P2002 when it was used before */
  async #use(transaction: Prisma.TransactionClient, { id: ssoProviderId }: SsoProvider, assertion: Assertion) {
    await transaction.usedAssertion.deleteMany({ where: { expiresAt: { lt: new Date() } } });
    const { id: assertionId, expiresAt } = assertion;
    await transaction.usedAssertion.create({ data: { ssoProviderId, assertionId, expiresAt } });
  }
}

function refuseReplay(error: unknown): never {
  if (isTaken(error)) throw new SignInRefusedError('answer_invalid', { cause: 'The assertion was used before.' });
  throw error;
}

function toAnswer(provider: SsoProvider, { issuer, nameId, sessionIndex, attributes }: Assertion): VerifiedAnswer {
  const claims = readClaims(attributes, provider);
  const isMapped = 'sub' in ((provider.attributeMapping as { keys?: object }).keys ?? {});
  return {
    provider,
    issuer,
    claims: isMapped ? claims : { ...claims, subject: nameId },
    providerSubject: nameId,
    providerSessionId: sessionIndex,
    idToken: null,
  };
}
