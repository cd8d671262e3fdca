import {
  AUTHORIZATION_PAGE_PATH,
  authorizeDevice,
  DEVICE_GRANT,
  getOAuthMetadata,
  issueOAuthTokens,
  MCP_SCOPE,
  OAUTH_PATHS,
  type OAuthMetadata,
  registerOAuthClient,
  revokeOAuthToken,
} from '@runyard/contracts';
import { type BoundOperation, bind, created, ok } from '@runyard/service-kit';
import { CODE_GRANTS } from './clients.ts';
import type { OAuthService } from './oauth-service.ts';

const PRIVATE = { 'cache-control': 'no-store', pragma: 'no-cache' };

/** Serves programs that act as people. */
export function oauthRoutes(oauth: OAuthService): BoundOperation[] {
  return [
    bind(getOAuthMetadata, () => ok(metadataOf(oauth.issuer))),
    bind(registerOAuthClient, async ({ body }) => created(await oauth.registerClient(body), PRIVATE)),
    bind(authorizeDevice, async ({ body, headers }) =>
      ok(await oauth.authorizeDevice(body, headers['user-agent'] ?? null), PRIVATE),
    ),
    bind(issueOAuthTokens, async ({ body, headers }) =>
      ok(await oauth.issueTokens(body, headers['user-agent'] ?? null), PRIVATE),
    ),
    bind(revokeOAuthToken, async ({ body }) => {
      await oauth.revoke(body);
      return ok(undefined, PRIVATE);
    }),
  ];
}

function metadataOf(issuer: string): OAuthMetadata {
  return {
    issuer,
    authorization_endpoint: issuer + AUTHORIZATION_PAGE_PATH,
    token_endpoint: issuer + OAUTH_PATHS.token,
    registration_endpoint: issuer + OAUTH_PATHS.register,
    device_authorization_endpoint: issuer + OAUTH_PATHS.deviceCode,
    revocation_endpoint: issuer + OAUTH_PATHS.revoke,
    grant_types_supported: [...CODE_GRANTS, DEVICE_GRANT],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    code_challenge_methods_supported: ['S256'],
    scopes_supported: [MCP_SCOPE],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: false,
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
  };
}
