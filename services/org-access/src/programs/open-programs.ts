import type { BoundOperation } from '@runyard/service-kit';
import type { Foundation } from '../foundation.ts';
import type { AttemptLimit } from '../sign-in/accounts/attempt-limit.ts';
import type { Credentials } from '../sign-in/tokens/open-credentials.ts';
import { apiKeyRoutes } from './api-keys/api-key-routes.ts';
import { PersonalTokenService } from './api-keys/personal-token-service.ts';
import { ServiceAccountService } from './api-keys/service-account-service.ts';
import { ServiceKeyService } from './api-keys/service-key-service.ts';
import { OAuthClients } from './oauth/clients.ts';
import { McpServers } from './oauth/mcp-servers.ts';
import { oauthRoutes } from './oauth/oauth-routes.ts';
import { OAuthService } from './oauth/oauth-service.ts';
import { RefreshTokens } from './oauth/refresh-tokens.ts';

export interface Programs {
  routes: BoundOperation[];
  clients: OAuthClients;
  servers: McpServers;
  /** The issuer of OAuth, as programs know it. */
  issuer: string;
}

/** Opens what programs come with: keys, service accounts, and what people allow them by OAuth. */
export function openPrograms(
  { config, database, cipher, keys, controlPlane }: Foundation,
  { sessions, lastSeen, accessTokens }: Credentials,
  limit: AttemptLimit,
): Programs {
  const clients = new OAuthClients({ cipher });
  const oauth = new OAuthService({
    ...{ database, sessions, lastSeen, accessTokens, clients, limit },
    refreshTokens: new RefreshTokens({ cipher }),
    publicUrl: config.PUBLIC_URL,
    sessionSeconds: config.PROGRAM_SESSION_SECONDS,
    ssoSessionSeconds: Math.min(config.OAUTH_SESSION_MAX_SEC, config.PROGRAM_SESSION_SECONDS),
  });
  const services = {
    keys: new ServiceKeyService({ database }),
    tokens: new PersonalTokenService({ database, sessions, isCreationDisabled: config.PAT_CREATION_DISABLED }),
    accounts: new ServiceAccountService({ database }),
  };
  return {
    routes: [...apiKeyRoutes(services, keys), ...oauthRoutes(oauth)],
    clients,
    servers: new McpServers({ prisma: database.prisma, controlPlane }),
    issuer: oauth.issuer,
  };
}
