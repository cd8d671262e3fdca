import { conforms } from '@runyard/contracts';
import { BuildError } from '@runyard/deployments';
import { originOf } from '@runyard/image-registry';
import Type from 'typebox';
import type { RegistryClientOptions } from './registry-client.ts';

const TokenAnswer = Type.Object({
  token: Type.Optional(Type.String({ minLength: 1 })),
  access_token: Type.Optional(Type.String({ minLength: 1 })),
});
const TIMEOUT_MS = 30_000;
const ANSWER_LIMIT_BYTES = 256 * 1024;

/**
 * Obtains the credential that a registry requires, according to its challenge: a bearer token from the token server
 * that it names, or the password itself.
 *
 * @returns the value of the header `authorization`
 * @throws BuildError when no credential can be obtained
 */
export async function requestToken(
  challenge: string,
  { reference, registry, others, login }: RegistryClientOptions,
  signal: AbortSignal,
): Promise<string> {
  const [, scheme = '', rest = ''] = /^(\w+)\s+(.*)$/s.exec(challenge) ?? [];
  const basic = login && `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`;
  const { host, repository } = reference;
  if (scheme.toLowerCase() === 'basic' && basic) return basic;
  const fields = Object.fromEntries(
    [...rest.matchAll(/(?<!\w)(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  );
  const { realm = '', service, scope = `repository:${repository}:pull` } = fields;
  if (scheme.toLowerCase() !== 'bearer' || !URL.canParse(realm)) {
    throw new BuildError(
      `The registry ${host} wants a login for ${repository} (PROJECT_BASE_IMAGE_USERNAME, …_PASSWORD)`,
    );
  }
  const url = new URL(realm);
  if (service !== undefined) url.searchParams.set('service', service);
  url.searchParams.set('scope', scope);
  const client = url.origin === originOf(reference) ? registry : others;
  const answer = await client.request(url.href, {
    method: 'GET',
    headers: basic ? { authorization: basic } : {},
    timeoutMs: TIMEOUT_MS,
    maxBodyBytes: ANSWER_LIMIT_BYTES,
    signal,
  });
  if (answer.status >= 500 || answer.status === 429) throw new Error(`${url.host} answers ${answer.status}`);
  const token = answer.status === 200 ? parseToken(answer.body) : undefined;
  if (token === undefined) {
    const hint = login ? '' : ' without a login (PROJECT_BASE_IMAGE_USERNAME, …_PASSWORD)';
    throw new BuildError(`The registry ${host} gives no token for ${repository}${hint}: ${answer.status}`);
  }
  return `Bearer ${token}`;
}

function parseToken(body: Buffer): string | undefined {
  try {
    const answer: unknown = JSON.parse(body.toString('utf8'));
    return conforms(TokenAnswer, answer) ? (answer.token ?? answer.access_token) : undefined;
  } catch {
    return undefined;
  }
}
