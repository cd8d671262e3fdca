import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

interface SigningKey {
  kid: string;
  privateKey: CryptoKey;
  publicJwk: JWK;
}

async function makeKey(kid: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  return { kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' } };
}

/** An OIDC provider that gives whatever claims a test wants, and checks what it is asked. */
export class TestOidcProvider {
  readonly #server: Server;
  #key: SigningKey;
  /** Authorized codes: what they are bound to, and the claims of the ID token. */
  readonly #codes = new Map<
    string,
    { challenge: string; redirectUri: string | null; claims: Record<string, unknown>; key: SigningKey }
  >();
  keySetRequests = 0;
  tokenRequests = 0;

  private constructor(server: Server, key: SigningKey) {
    this.#server = server;
    this.#key = key;
  }

  static async start(): Promise<TestOidcProvider> {
    const server = createServer((req, res) => {
      provider.#answer(req, res).catch(() => res.destroy());
    });
    const provider = new TestOidcProvider(server, await makeKey('first'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return provider;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Replaces the key that signs, and forgets the old one. */
  async rotateKey(): Promise<void> {
    this.#key = await makeKey(`next ${this.#key.kid}`);
  }

  /** Lets somebody sign in. @returns the query of the redirect back */
  authorize(authorizationUrl: string, claims: Record<string, unknown>, options: { key?: 'foreign' } = {}): string {
    const query = new URL(authorizationUrl).searchParams;
    if (query.get('code_challenge_method') !== 'S256') throw new Error('PKCE is missing');
    const code = `code-${this.#codes.size}`;
    const now = Math.floor(Date.now() / 1000);
    this.#codes.set(code, {
      challenge: query.get('code_challenge') ?? '',
      redirectUri: query.get('redirect_uri'),
      key: options.key === 'foreign' ? foreign : this.#key,
      claims: {
        iss: this.issuer,
        aud: 'runyard',
        sub: 'somebody',
        nonce: query.get('nonce'),
        iat: now,
        exp: now + 300,
        ...claims,
      },
    });
    return new URLSearchParams({ code, state: query.get('state') ?? '' }).toString();
  }

  sign(claims: Record<string, unknown>, key: SigningKey = this.#key): Promise<string> {
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: key.kid }).sign(key.privateKey);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const reply = (status: number, body: unknown) =>
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    switch (req.url) {
      case '/.well-known/openid-configuration':
        return void reply(200, {
          issuer: this.issuer,
          authorization_endpoint: `${this.issuer}/authorize`,
          token_endpoint: `${this.issuer}/token`,
          jwks_uri: `${this.issuer}/jwks`,
          end_session_endpoint: `${this.issuer}/logout`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
        });
      case '/jwks':
        this.keySetRequests += 1;
        return void reply(200, { keys: [this.#key.publicJwk] });
      case '/token':
        return void reply(...(await this.#token(req)));
      default:
        return void reply(404, {});
    }
  }

  async #token(req: IncomingMessage): Promise<[number, unknown]> {
    this.tokenRequests += 1;
    const form = new URLSearchParams(await text(req));
    const authorized = this.#codes.get(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!authorized || authorized.challenge !== challenge) return [400, { error: 'invalid_grant' }];
    if (authorized.redirectUri !== form.get('redirect_uri')) return [400, { error: 'invalid_grant' }];
    this.#codes.delete(form.get('code') ?? '');
    const idToken = await this.sign(authorized.claims, authorized.key);
    return [200, { access_token: 'access', token_type: 'Bearer', id_token: idToken }];
  }
}

const foreign = await makeKey('first');
