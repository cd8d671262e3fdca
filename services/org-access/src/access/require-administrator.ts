import { ForbiddenError, type Principal } from '@runyard/service-kit';

/**
 * Refuses Organization Operators, who have the permission `organization:manage` too, what only administrators may do.
 *
 * @param doing completes "Only organization administrators …"
 * @throws ForbiddenError
 */
export function requireOrganizationAdministrator({ organizationRole }: Principal, doing: string): void {
  if (organizationRole === 'admin') return;
  throw new ForbiddenError(`Only organization administrators ${doing}`, { code: 'organization_admin_required' });
}
