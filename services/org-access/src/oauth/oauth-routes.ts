import {
  authorizeDevice,
  DEVICE_GRANT,
  getOAuthMetadata,
  issueOAuthTokens,
  OAUTH_PATHS,
  revokeOAuthToken,
} from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { OAuthService } from './oauth-service.ts';

const PRIVATE = { 'cache-control': 'no-store', pragma: 'no-cache' };

/** Serves programs that act as people. */
export function oauthRoutes(oauth: OAuthService): BoundOperation[] {
  return [
    bind(getOAuthMetadata, () =>
      ok({
        issuer: oauth.issuer,
        token_endpoint: oauth.issuer + OAUTH_PATHS.token,
        device_authorization_endpoint: oauth.issuer + OAUTH_PATHS.deviceCode,
        revocation_endpoint: oauth.issuer + OAUTH_PATHS.revoke,
        grant_types_supported: [DEVICE_GRANT, 'refresh_token'],
        response_types_supported: [],
        token_endpoint_auth_methods_supported: ['none'],
        revocation_endpoint_auth_methods_supported: ['none'],
      }),
    ),
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
