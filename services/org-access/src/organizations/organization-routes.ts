import { getOrganizationInfo, updateOrganizationInfo } from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { OrganizationService } from './organization-service.ts';

export function organizationRoutes(organizations: OrganizationService): BoundOperation[] {
  return [
    ...getOrganizationInfo.map((operation) =>
      bind(operation, async ({ caller }) => ok(await organizations.info(caller))),
    ),
    ...updateOrganizationInfo.map((operation) =>
      bind(operation, async ({ caller, body }) => ok(await organizations.update(caller, body))),
    ),
  ];
}
