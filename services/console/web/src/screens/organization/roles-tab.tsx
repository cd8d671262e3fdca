import type { Role } from '@runyard/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { Section } from '../../components/section.tsx';
import { permissionsQuery, rolesQuery } from '../../platform/roles.ts';
import { useOrganization } from './parts/use-organization.ts';
import { CustomRoles } from './roles/custom-roles.tsx';
import { RoleDialog } from './roles/role-dialog.tsx';
import { RoleMatrix } from './roles/role-matrix.tsx';

/** The permissions of each role, and the roles that the organization has made. */
export function RolesTab() {
  const { workspaceId, missingAdministrator } = useOrganization();
  const roles = useQuery(rolesQuery(workspaceId));
  const permissions = useQuery(permissionsQuery(workspaceId));
  const [edited, setEdited] = useState<Role | 'new'>();
  const custom = roles.data?.filter(({ organization_id: id }) => id !== null) ?? [];
  const retry = () => {
    void roles.refetch();
    void permissions.refetch();
  };
  const of = (scope: Role['access_scope']) => ({
    roles: (roles.data ?? []).filter(({ access_scope: each }) => each === scope),
    permissions: (permissions.data ?? []).filter((each) => each.access_scope === scope && each.has_effect),
  });
  return (
    <>
      <Fault error={roles.error ?? permissions.error} onRetry={retry} />
      {(roles.isPending || permissions.isPending) && <Loading what="the roles" />}
      <Section
        title="Custom roles"
        about="Roles of your own making, for use in every workspace."
        actions={
          <Button look="first" unavailable={missingAdministrator} onClick={() => setEdited('new')}>
            New role …
          </Button>
        }
      >
        {roles.data && custom.length === 0 && (
          <Empty title="There are no custom roles">Make one where the roles below give too much or too little.</Empty>
        )}
        {custom.length > 0 && <CustomRoles roles={custom} onChange={setEdited} />}
      </Section>
      <Section title="In workspaces">
        <RoleMatrix caption="What roles may do in workspaces" {...of('workspace')} />
      </Section>
      <Section title="In the organization">
        <RoleMatrix caption="What roles may do in the organization" {...of('organization')} />
      </Section>
      {edited && (
        <RoleDialog
          {...(edited !== 'new' && { role: edited })}
          permissions={permissions.data ?? []}
          onClose={() => setEdited(undefined)}
        />
      )}
    </>
  );
}
