import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { Canaries } from './canaries.ts';

/** The address that the provider vouches for. */
export const PERSON_OF_PROVIDER = 'canary@example.com';

/**
 * Starts an identity provider whose tokens are canaries. It accepts any code but those with `refused`, for which it repeats
 * what it was asked.
 */
export async function startOidcServer(
  canaries: Canaries,
): Promise<{ issuer: string; expect(nonce: string): void; close(): void }> {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const key = { ...(await exportJWK(publicKey)), kid: 'canary', alg: 'RS256', use: 'sig' };
  let nonce = '';
  const issue = async (issuer: string) => {
    const claims = { sub: 'canary', email: PERSON_OF_PROVIDER, email_verified: true, nonce };
    const idToken = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: key.kid })
      .setIssuer(issuer)
      .setAudience('canary')
      .setIssuedAt()
      .setExpirationTime('5 min')
      .sign(privateKey);
    return {
      token_type: 'Bearer',
      id_token: canaries.add('the ID token of a provider', idToken),
      access_token: canaries.make('the access token of a provider'),
      refresh_token: canaries.make('the refresh token of a provider'),
    };
  };
  const server = createServer(async (req, res) => {
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const reply = (status: number, body: unknown) =>
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (req.url === '/jwks') return reply(200, { keys: [key] });
    if (req.url !== '/token')
      return reply(200, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      });
    const body = await text(req);
    const asked = JSON.stringify({ headers: req.headers, body });
    if (body.includes('refused')) return reply(400, { error: 'invalid_grant', error_description: asked, asked });
    return reply(200, await issue(issuer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    expect(next) {
      nonce = next;
    },
    close: () => server.close(),
  };
}
