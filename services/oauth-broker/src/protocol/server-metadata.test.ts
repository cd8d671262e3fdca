import { describe, expect, it } from 'vitest';
import type { ProviderRequests } from './provider-requests.ts';
import { discoverConfiguredServer, discoverServer, supportsS256 } from './server-metadata.ts';

/** Makes a fake server that has metadata only at these places. */
function servers(...places: { at: string; issuer: string; endpoints?: string }[]) {
  const asked: string[] = [];
  const fetch: ProviderRequests['fetch'] = async (url) => {
    asked.push(url);
    const found = places.find(({ at }) => at === url);
    if (!found) return new Response('nothing here', { status: 404 });
    const { issuer, endpoints = issuer } = found;
    return Response.json({
      issuer,
      authorization_endpoint: `${endpoints}/authorize`,
      token_endpoint: `${endpoints}/token`,
      code_challenge_methods_supported: ['S256'],
    });
  };
  return { asked, requests: { fetch } as ProviderRequests };
}

describe('an issuer with a path', () => {
  const issuer = 'https://id.example/tenants/acme';

  it.each([
    ['RFC 8414 has it', 'https://id.example/.well-known/oauth-authorization-server/tenants/acme'],
    ['RFC 8414 has it for OpenID Connect', 'https://id.example/.well-known/openid-configuration/tenants/acme'],
    ['OpenID Connect has it', 'https://id.example/tenants/acme/.well-known/openid-configuration'],
  ])('is found where %s', async (_, at) => {
    const { requests } = servers({ at, issuer });
    expect(await discoverServer(new URL(issuer), requests)).toMatchObject({
      issuer,
      token_endpoint: `${issuer}/token`,
    });
  });

  it('does not match the metadata of another one', async () => {
    const at = 'https://id.example/tenants/acme/.well-known/openid-configuration';
    const { requests } = servers({ at, issuer: 'https://id.example/tenants/other' });
    await expect(discoverServer(new URL(issuer), requests)).rejects.toThrow();
  });

  it('is found from the endpoints of a provider that was described by hand', async () => {
    const realm = 'https://id.example/realms/acme';
    const endpoints = `${realm}/protocol/openid-connect`;
    const { requests } = servers({ at: `${realm}/.well-known/openid-configuration`, issuer: realm, endpoints });
    const provider = { authUrl: `${endpoints}/authorize`, tokenUrl: `${endpoints}/token` };
    expect(await discoverConfiguredServer(provider, requests, AbortSignal.timeout(1_000))).toMatchObject({
      issuer: realm,
    });
    const other = { ...provider, tokenUrl: 'https://elsewhere.example/token' };
    expect(await discoverConfiguredServer(other, requests, AbortSignal.timeout(1_000))).toBeNull();
  });
});

it('a field of another form than it should have counts as absent', async () => {
  const issuer = 'https://id.example';
  const metadata = { issuer, token_endpoint: `${issuer}/token`, code_challenge_methods_supported: {} };
  const fetch = async () => Response.json({ ...metadata, revocation_endpoint: 5 });
  const server = await discoverServer(new URL(issuer), { fetch } as unknown as ProviderRequests);
  expect(server).toEqual({ issuer, token_endpoint: `${issuer}/token` });
  expect(supportsS256({ issuer, code_challenge_methods_supported: {} } as never)).toBe(false);
});

it('an issuer in the root is asked for once at each place', async () => {
  const { asked, requests } = servers();
  expect(await discoverServer(new URL('https://id.example'), requests)).toBeNull();
  expect(asked).toEqual([
    'https://id.example/.well-known/oauth-authorization-server',
    'https://id.example/.well-known/openid-configuration',
  ]);
});
