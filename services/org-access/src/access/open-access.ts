import type { BoundOperation } from '@runyard/service-kit';
import type { Foundation } from '../foundation.ts';
import { accessRoutes } from './access-routes.ts';
import { policyRoutes } from './policies/policy-routes.ts';
import { PolicyService } from './policies/policy-service.ts';
import { roleRoutes } from './roles/role-routes.ts';
import { RoleService } from './roles/role-service.ts';
import { followDeletedDeployments } from './tags/deleted-deployments.ts';
import { tagRoutes } from './tags/tag-routes.ts';
import { TagService } from './tags/tag-service.ts';
import { TaggingService } from './tags/tagging-service.ts';

/** Opens what decides who may do what: roles, policies and the tags that policies name. */
export function openAccess({ context, database, bus, controlPlane, keys }: Foundation): BoundOperation[] {
  const { lifecycle, logger } = context;
  const { prisma } = database;
  followDeletedDeployments({ bus, database, controlPlane, lifecycle, logger });
  return [
    ...roleRoutes(new RoleService({ database }), keys),
    ...policyRoutes({ prisma, policies: new PolicyService({ database }) }),
    ...tagRoutes({ prisma, tags: new TagService({ database }), taggings: new TaggingService({ database }) }),
    ...accessRoutes({ prisma }),
  ];
}
