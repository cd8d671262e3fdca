import type { BoundOperation } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import { ScimGroupService } from './groups/group-service.ts';
import { provisionedRoutes } from './provisioned/provisioned-routes.ts';
import { ProvisionedService } from './provisioned/provisioned-service.ts';
import { scimRoutes } from './scim-routes.ts';
import { scimTokenRoutes } from './tokens/scim-token-routes.ts';
import { ScimTokenService } from './tokens/scim-token-service.ts';
import { ScimUserService } from './users/user-service.ts';

/** Opens provisioning by identity providers, and the tokens with which they come. */
export const openScim = (database: Database): BoundOperation[] => [
  ...scimRoutes({ users: new ScimUserService({ database }), groups: new ScimGroupService({ database }) }),
  ...scimTokenRoutes(new ScimTokenService({ database })),
  ...provisionedRoutes(new ProvisionedService({ database })),
];
