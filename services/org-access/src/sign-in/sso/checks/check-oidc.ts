import type { SsoCheck } from '@runyard/contracts';
import { OutboundRefusedError } from '@runyard/outbound';
import type { ServerMetadata } from 'openid-client';
import type { SsoProvider } from '../../../generated/client.ts';
import type { IdentityProviderClient } from '../identity-provider-client.ts';
import type { OidcClient } from '../oidc/oidc-client.ts';
import { oidcOf } from '../provider-configuration.ts';
import { failed, passed, skipped, warning } from './check-outcomes.ts';

const CLIENT_METHODS = ['client_secret_basic', 'client_secret_post'];
const SIGNING_KEY_TYPES = ['RSA', 'EC', 'OKP'];

/** Asks an OIDC provider for all that sign-in needs of it. Never fails: what does is among the checks. */
export async function checkOidc(
  provider: SsoProvider,
  { client, http }: { client: OidcClient; http: IdentityProviderClient },
): Promise<SsoCheck[]> {
  const { issuerUrl } = oidcOf(provider);
  let configuration: Awaited<ReturnType<OidcClient['describe']>>;
  try {
    configuration = await client.describe(provider);
  } catch (error) {
    const later = (['endpoints', 'keys', 'client'] as const).map(skipped);
    return [failed('discovery', discoveryFailure(error, issuerUrl)), ...later];
  }
  const server = configuration.serverMetadata();
  const endpoints = checkEndpoints(server, http);
  return [
    passed('discovery', `The issuer ${server.issuer} describes itself.`),
    endpoints,
    await checkKeys(server, http),
    endpoints.outcome === 'failed'
      ? skipped('client')
      : await checkClient(() => client.refusalOfUnknownCode(provider, configuration)),
  ];
}

/** Returns the sentence about an error of the discovery of a provider. */
function discoveryFailure(error: unknown, issuerUrl: string): string {
  const causes = [...causesOf(error)];
  const refused = causes.find((each) => each instanceof OutboundRefusedError);
  if (refused) return refused.message;
  const codes = causes.map((each) => (each as { code?: unknown }).code);
  if (codes.includes('OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED'))
    return `The document at ${issuerUrl} is that of another issuer: enter the issuer as the provider names it.`;
  const answer = causes.find((each) => each instanceof Response);
  if (answer && answer.status !== 200)
    return `The discovery document of ${issuerUrl} is answered with ${answer.status}.`;
  if (answer || codes.includes('OAUTH_INVALID_RESPONSE') || codes.includes('OAUTH_PARSE_ERROR'))
    return `There is no discovery document at ${issuerUrl}.`;
  if (causes.length === 1 && error instanceof Error && error.message === 'The provider publishes no keys.')
    return error.message;
  return `${issuerUrl} does not answer.`;
}

function* causesOf(error: unknown): Generator<Error | Response> {
  for (let each = error; each instanceof Error || each instanceof Response; each = (each as Error).cause) yield each;
}

function checkEndpoints(server: ServerMetadata, http: IdentityProviderClient): SsoCheck {
  for (const name of ['authorization_endpoint', 'token_endpoint'] as const) {
    const url = server[name];
    if (url === undefined) return failed('endpoints', `The provider names no ${name}.`);
    // Browsers go to the first one, not this service: any HTTPS address will do.
    if (name === 'authorization_endpoint' && url.startsWith('https:')) continue;
    try {
      http.checkUrl(url);
    } catch (error) {
      return failed('endpoints', `${name} ${url}: ${(error as Error).message}`);
    }
  }
  const { response_types_supported: types, token_endpoint_auth_methods_supported: methods } = server;
  if (types && !types.includes('code'))
    return failed('endpoints', 'The provider does not know the response type code.');
  if (methods && !methods.some((each) => CLIENT_METHODS.includes(each)))
    return failed('endpoints', `The provider takes no client secret, only ${methods.join(', ')}.`);
  return passed('endpoints', 'Sign-in and tokens have addresses that may be used.');
}

async function checkKeys({ jwks_uri: url }: ServerMetadata, http: IdentityProviderClient): Promise<SsoCheck> {
  try {
    const { keys } = JSON.parse(await http.read(url!)) as { keys?: { kty?: string; use?: string }[] };
    const count = keys!.filter(({ kty = '', use = 'sig' }) => use === 'sig' && SIGNING_KEY_TYPES.includes(kty)).length;
    if (count === 0) return failed('keys', `There is no key to sign with at ${url}.`);
    return passed('keys', `${count === 1 ? 'One key' : `${count} keys`} to sign with can be read.`);
  } catch (error) {
    if (error instanceof OutboundRefusedError) return failed('keys', error.message);
    return failed('keys', `The keys at ${url} cannot be read.`);
  }
}

async function checkClient(refusalOfUnknownCode: () => Promise<string>): Promise<SsoCheck> {
  try {
    const refusal = await refusalOfUnknownCode();
    if (refusal === 'invalid_grant') return passed('client', 'The provider accepts the client ID and the secret.');
    if (refusal === 'invalid_client') return failed('client', 'The provider refuses the client ID or the secret.');
    if (refusal === 'unauthorized_client')
      return failed('client', 'The provider does not let the client exchange codes of sign-in.');
    return warning('client', `The provider answers ${refusal}, which does not say whether it accepts the secret.`);
  } catch (error) {
    if (error instanceof OutboundRefusedError) return failed('client', error.message);
    return failed('client', 'The token endpoint does not answer as OAuth says.');
  }
}
