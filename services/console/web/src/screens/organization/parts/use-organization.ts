import { useQuery } from '@tanstack/react-query';
import { memberOfPersonQuery } from '../../../platform/members.ts';
import { organizationQuery } from '../../../platform/organization.ts';
import { rolesQuery } from '../../../platform/roles.ts';
import { personQuery, useWorkspace } from '../../../session/session.ts';

const ADMINISTRATOR = 'ORGANIZATION_ADMIN';

/** The organization of the workspace, and the sentences about what the person may not do in it. */
export function useOrganization() {
  const { id: workspaceId } = useWorkspace();
  const { data: organization, error, refetch } = useQuery(organizationQuery(workspaceId));
  const isAdministrator = useIsAdministrator(workspaceId);
  return {
    workspaceId,
    organization,
    error,
    retry: () => void refetch(),
    isAdministrator,
    /** Returns the sentence for a button of which the permission is missing; undefined where it is there. */
    missing: (permission: string): string | undefined => {
      if (!organization) return 'Your permissions are not known yet';
      return organization.permissions.includes(permission)
        ? undefined
        : `You need the permission ${permission} in this organization`;
    },
    /** The sentence where only an Organization Admin may do something. */
    missingAdministrator: isAdministrator ? undefined : 'Only an Organization Admin may do this',
  };
}

/** Operators have the permissions of administrators, but not all their rights: the role alone tells them apart. */
function useIsAdministrator(workspaceId: string): boolean {
  const { data: person } = useQuery(personQuery);
  const personId = person?.ls_user_id ?? '';
  const member = useQuery({ ...memberOfPersonQuery(workspaceId, personId), enabled: personId !== '' });
  const roles = useQuery(rolesQuery(workspaceId));
  const role = roles.data?.find(({ id }) => id === member.data?.org_role_id);
  return role?.name === ADMINISTRATOR;
}
