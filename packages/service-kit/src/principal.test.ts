import type { IncomingMessage } from 'node:http';
import { createLocalJWKSet, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { createPrincipalVerifier, type TokenVerifier } from './principal.ts';

const claims = {
  organization_id: '7d7c1a52-9d3f-4f0a-8a52-6a2f3f0f9b01',
  workspace_id: '3c2b1a09-8f7e-4d6c-9b5a-4f3e2d1c0b06',
  kind: 'service_key',
  organization_role: 'user',
  permissions: ['deployments:read'],
};

describe('principal tokens', () => {
  let pair: Awaited<ReturnType<typeof generateKeyPair>>;
  let verifier: TokenVerifier;

  const sign = (payload: JWTPayload, audience = 'deployment:d', expires: string | number = '60s', alg = 'EdDSA') =>
    new SignJWT(payload)
      .setProtectedHeader({ alg, kid: 'k' })
      .setSubject('identity')
      .setAudience(audience)
      .setExpirationTime(expires)
      .sign(pair.privateKey);
  const request = (token?: string) => ({ headers: { 'x-runyard-principal': token } }) as unknown as IncomingMessage;

  beforeAll(async () => {
    pair = await generateKeyPair('EdDSA');
    const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'EdDSA' };
    verifier = createPrincipalVerifier({ audience: 'deployment:d', keys: createLocalJWKSet({ keys: [jwk] }) });
  });

  it('identify the caller', async () => {
    expect(await verifier.authenticate(request(await sign(claims)))).toEqual({
      kind: 'service_key',
      identity: 'identity',
      organizationId: claims.organization_id,
      workspaceId: claims.workspace_id,
      organizationRole: 'user',
      permissions: ['deployments:read'],
    });
  });

  it('are checked once for concurrent requests', async () => {
    let lookups = 0;
    const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'EdDSA' };
    const local = createLocalJWKSet({ keys: [jwk] });
    const counting = createPrincipalVerifier({
      audience: 'deployment:d',
      keys: (header, token) => {
        lookups += 1;
        return local(header, token);
      },
    });
    const token = await sign(claims);
    const crowd = await Promise.all(Array.from({ length: 50 }, () => counting.authenticate(request(token))));
    expect(new Set(crowd.map(({ identity }) => identity))).toEqual(new Set(['identity']));
    expect(lookups).toBe(1);
    const forged = `${token.slice(0, -4)}AAAA`;
    for (const refused of await Promise.allSettled([1, 2].map(() => counting.verify(forged)))) {
      expect(refused).toMatchObject({ status: 'rejected', reason: { status: 401 } });
    }
  });

  it('are refused when missing, forged, expired, for another audience, or without their claims', async () => {
    const other = await generateKeyPair('EdDSA');
    const forged = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'EdDSA', kid: 'k' })
      .setSubject('x')
      .setAudience('deployment:d')
      .setExpirationTime('60s')
      .sign(other.privateKey);
    const bad = [
      undefined,
      'nonsense',
      forged,
      await sign(claims, 'deployment:d', Math.floor(Date.now() / 1000) - 60),
      await sign(claims, 'deployment:other'),
      await sign({ ...claims, organization_id: 'x' }),
    ];
    for (const token of bad) await expect(verifier.authenticate(request(token))).rejects.toMatchObject({ status: 401 });
  });

  it('lead to 503, not to a refusal, when the key set cannot be fetched', async () => {
    const away = createPrincipalVerifier({ audience: 'deployment:d', jwksUrl: 'http://127.0.0.1:1/jwks.json' });
    await expect(away.authenticate(request(await sign(claims)))).rejects.toMatchObject({ status: 503 });
  });

  it('are checked once and remembered until they expire', async () => {
    const token = await sign(claims);
    const first = await verifier.verify(token);
    expect(await verifier.verify(token)).toBe(first);
  });
});
