import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PRINCIPAL_HEADER, type PrincipalClaims } from '@runyard/contracts';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

/** Stands in for org-access: publishes a key set and signs principal tokens with it. */
export interface Callers {
  orgAccessUrl: string;
  /** Headers of a caller; without claims of its own an administrator of `WORKSPACE`. */
  headers(claims?: Partial<PrincipalClaims>): Promise<Record<string, string>>;
  close(): Promise<void>;
}

export const ORGANIZATION = '11111111-0000-4000-8000-000000000001';
export const WORKSPACE = '22222222-0000-4000-8000-000000000001';
export const OTHER_WORKSPACE = '22222222-0000-4000-8000-000000000002';
export const ALL_PERMISSIONS = ['deployments:create', 'deployments:read', 'deployments:update', 'deployments:delete'];

export async function makeCallers(): Promise<Callers> {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'test', alg: 'EdDSA' }] });
  const server = createServer((_, response) => response.setHeader('content-type', 'application/json').end(jwks));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    orgAccessUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async headers(claims = {}) {
      const complete = {
        sub: '33333333-0000-4000-8000-000000000001',
        aud: 'control-plane',
        organization_id: ORGANIZATION,
        workspace_id: WORKSPACE,
        kind: 'service_key',
        organization_role: 'admin',
        permissions: ALL_PERMISSIONS,
        exp: Math.floor(Date.now() / 1000) + 60,
        ...claims,
      };
      const token = await new SignJWT(complete).setProtectedHeader({ alg: 'EdDSA', kid: 'test' }).sign(privateKey);
      return { [PRINCIPAL_HEADER]: token, 'content-type': 'application/json' };
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
