import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { inflateRawSync } from 'node:zlib';
import { makeSamlResponse, makeSamlSigner, samlMetadataOf } from '@runyard/test-kit';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import Provider, { type ClientMetadata } from 'oidc-provider';

async function listen(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

async function makeKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: `key-${Date.now()}` };
}

export interface OidcServer {
  issuer: string;
  /** Groups of people by their logins. */
  groups: Map<string, string[]>;
  /** Errors of telling clients that somebody signed out. */
  failures: Error[];
  /** Lets the client send browsers back there alone, as its administrator does once the platform names the address. */
  registerCallback(url: string): Promise<void>;
  /** Starts anew with another key to sign with; nobody is signed in there any more. */
  rotateKey(): Promise<void>;
  close(): Promise<void>;
}

/** Runs a real OpenID Connect server whose people are `<login>@example.com`, with any password. */
export async function startOidcServer(client: ClientMetadata): Promise<OidcServer> {
  const groups = new Map<string, string[]>();
  const failures: Error[] = [];
  const make = async (port: number) => {
    const made = new Provider(`http://127.0.0.1:${port}`, {
      clients: [client],
      jwks: { keys: [await makeKey()] },
      claims: { openid: ['sub', 'sid'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
      features: { backchannelLogout: { enabled: true } },
      // Its own would refuse to call a machine that is not public, as the platform of a test is.
      fetch: (target, { dispatcher: _, ...options }: RequestInit & { dispatcher?: unknown } = {}) =>
        fetch(target, options),
      findAccount: (_, accountId) => ({
        accountId,
        claims: () => ({
          sub: accountId,
          email: `${accountId}@example.com`,
          email_verified: true,
          name: accountId,
          groups: groups.get(accountId) ?? [],
        }),
      }),
    });
    made.on('backchannel.error', (_, error) => failures.push(error));
    return made;
  };
  let provider: Provider | undefined;
  const server = createServer((req, res) => void provider?.callback()(req, res));
  const port = await listen(server);
  provider = await make(port);
  return {
    issuer: `http://127.0.0.1:${port}`,
    groups,
    failures,
    async registerCallback(url) {
      client.redirect_uris = [url];
      provider = await make(port);
    },
    async rotateKey() {
      provider = await make(port);
    },
    close: () => close(server),
  };
}

export interface SamlServer {
  metadataUrl: string;
  /** The page of the provider at which sign-in begins. */
  startUrl: string;
  close(): Promise<void>;
}

/** Runs a SAML identity provider: a form asks for a login, and another sends the signed answer. */
export async function startSamlServer(serviceProvider: { consumer: string; entityId: string }): Promise<SamlServer> {
  const signer = makeSamlSigner();
  let root = '';
  const server = createServer(async (req, res) => {
    const url = new URL(req.url ?? '/', root);
    const html = (body: string) =>
      res
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<!doctype html><html lang="en"><title>Provider</title>${body}</html>`);
    if (url.pathname === '/metadata') {
      res.end(samlMetadataOf({ entityId: `${root}/metadata`, signInUrl: `${root}/sso`, signer }));
    } else if (req.method === 'POST') {
      const form = new URLSearchParams(await text(req));
      const login = form.get('login') ?? '';
      const inResponseTo = form.get('id') ?? '';
      const xml = makeSamlResponse({
        entityId: `${root}/metadata`,
        signer,
        recipient: serviceProvider.consumer,
        audience: serviceProvider.entityId,
        nameId: login,
        attributes: { email: [`${login}@example.com`], name: [login] },
        signs: 'both',
        ...(inResponseTo !== '' && { inResponseTo }),
      });
      const fields = { SAMLResponse: Buffer.from(xml).toString('base64'), RelayState: form.get('relay') ?? '' };
      const inputs = Object.entries(fields).map(
        ([name, value]) => `<input type="hidden" name="${name}" value="${value}">`,
      );
      html(
        `<form method="post" action="${serviceProvider.consumer}">${inputs.join('')}<button>Continue</button></form>`,
      );
    } else {
      const request = url.searchParams.get('SAMLRequest');
      const id = request ? / ID="([^"]+)"/.exec(inflateRawSync(Buffer.from(request, 'base64')).toString())?.[1] : '';
      const relay = url.searchParams.get('RelayState') ?? '/ok';
      html(
        `<form method="post" action="/login"><input name="login"><input type="hidden" name="id" value="${id ?? ''}"><input type="hidden" name="relay" value="${relay}"><button>Sign in</button></form>`,
      );
    }
  });
  root = `http://127.0.0.1:${await listen(server)}`;
  return { metadataUrl: `${root}/metadata`, startUrl: `${root}/start`, close: () => close(server) };
}
