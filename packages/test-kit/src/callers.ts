import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import {
  type AccessDecisionRequest,
  type DeletedWorkspacesRequest,
  PRINCIPAL_HEADER,
  type PrincipalClaims,
  type PublicService,
  type ReachRequest,
  type TaggedResourcesRequest,
  type WorkspaceSecretsRequest,
} from '@runyard/contracts';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

/**
 * A fake of org-access: it publishes a key set, signs principal tokens with it, and answers whether an identity reaches
 * a workspace, which deployments have a tag, which workspaces were deleted, and which secrets they have.
 */
export interface Callers {
  orgAccessUrl: string;
  /** Identities that reach no workspace; all others reach every workspace. */
  removed: Set<string>;
  /** Ids of deleted workspaces. */
  deletedWorkspaces: Set<string>;
  /** Secrets of every workspace, by key. */
  workspaceSecrets: Map<string, string>;
  /** Permissions that policies leave on a deployment, by its id; on others they leave all. */
  left: Map<string, string[]>;
  /** Ids of deployments by the tag value that they have. */
  tagged: Map<string, string[]>;
  /** True when it answers questions about workspaces with status 500. */
  isUnwell: boolean;
  /** Returns the headers of a caller, by default of an administrator of `WORKSPACE`. */
  headers(claims?: Partial<PrincipalClaims>): Promise<Record<string, string>>;
  close(): Promise<void>;
}

export const ORGANIZATION = '11111111-0000-4000-8000-000000000001';
export const WORKSPACE = '22222222-0000-4000-8000-000000000001';
export const OTHER_WORKSPACE = '22222222-0000-4000-8000-000000000002';
export const ALL_PERMISSIONS = [
  'deployments:create',
  'deployments:read',
  'deployments:update',
  'deployments:delete',
  'deployments:halt',
];

/** @param audience the service that is called */
export async function makeCallers(audience: PublicService): Promise<Callers> {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'test', alg: 'EdDSA' }] });
  const callers = {
    removed: new Set<string>(),
    deletedWorkspaces: new Set<string>(),
    workspaceSecrets: new Map<string, string>(),
    tagged: new Map<string, string[]>(),
    left: new Map<string, string[]>(),
    isUnwell: false,
  };
  const server = createServer(async (request, response) => {
    response.setHeader('content-type', 'application/json');
    const isUnwell = callers.isUnwell && request.method === 'POST';
    response.statusCode = isUnwell ? 500 : 200;
    if (request.url === '/internal/tagged-resources') {
      const { tag_value_ids } = (await json(request)) as TaggedResourcesRequest;
      return response.end(
        JSON.stringify({ resource_ids: tag_value_ids.flatMap((id) => callers.tagged.get(id) ?? []) }),
      );
    }
    if (request.url === '/internal/workspaces/deleted') {
      const { workspaces } = (await json(request)) as DeletedWorkspacesRequest;
      const deleted = workspaces.filter(({ workspace_id }) => callers.deletedWorkspaces.has(workspace_id));
      return response.end(JSON.stringify({ deleted }));
    }
    if (request.url === '/internal/workspaces/secrets') {
      const { keys } = (await json(request)) as WorkspaceSecretsRequest;
      const known = keys.filter((key) => callers.workspaceSecrets.has(key));
      const secrets = known.map((key) => ({ key, value: callers.workspaceSecrets.get(key) }));
      return response.end(JSON.stringify({ secrets }));
    }
    if (request.url === '/internal/access/decide') {
      const { deployment_ids, permissions } = (await json(request)) as AccessDecisionRequest;
      const decisions = deployment_ids.flatMap((id) => {
        const left = permissions.filter((each) => callers.left.get(id)?.includes(each) ?? true);
        return left.length === 0 ? [] : [{ deployment_id: id, permissions: left }];
      });
      return response.end(JSON.stringify({ decisions }));
    }
    if (request.url !== '/internal/identities/reach') return response.end(jwks);
    const { identity_id } = (await json(request)) as ReachRequest;
    return response.end(JSON.stringify({ reaches: !callers.removed.has(identity_id) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(callers, {
    orgAccessUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async headers(claims: Partial<PrincipalClaims> = {}) {
      const complete = {
        sub: '33333333-0000-4000-8000-000000000001',
        aud: audience,
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
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  });
}
