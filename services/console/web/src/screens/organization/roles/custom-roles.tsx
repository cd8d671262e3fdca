import type { Role } from '@runyard/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Confirm } from '../../../components/dialog.tsx';
import { ActionCell, Cell, HeadCell, Row, Table } from '../../../components/table.tsx';
import { deleteRole, rolesQuery } from '../../../platform/roles.ts';
import { useOrganization } from '../parts/use-organization.ts';

/** The custom roles, with what one does about them. */
export function CustomRoles({ roles, onChange }: { roles: readonly Role[]; onChange: (role: Role) => void }) {
  const { workspaceId, missingAdministrator: unavailable } = useOrganization();
  const client = useQueryClient();
  const [deleted, setDeleted] = useState<Role>();
  const remove = async ({ id }: Role) => {
    await deleteRole(workspaceId, id);
    await client.invalidateQueries(rolesQuery(workspaceId));
  };
  return (
    <>
      <Table caption="Custom roles" columns={['Role', 'Permissions', 'Actions']}>
        {roles.map((role) => (
          <Row key={role.id}>
            <HeadCell>
              {role.display_name}
              <span className="block text-xs font-normal text-faint">{role.description}</span>
            </HeadCell>
            <Cell label="Permissions">
              {role.permissions.length - role.permissions_without_effect.length}
              {role.permissions_without_effect.length > 0 &&
                `, and ${role.permissions_without_effect.length} without effect`}
            </Cell>
            <ActionCell>
              <Button
                size="small"
                unavailable={unavailable}
                onClick={() => onChange(role)}
                aria-label={`Change ${role.display_name}`}
              >
                Change …
              </Button>
              <Button
                size="small"
                look="danger"
                unavailable={unavailable}
                onClick={() => setDeleted(role)}
                aria-label={`Delete ${role.display_name}`}
              >
                Delete …
              </Button>
            </ActionCell>
          </Row>
        ))}
      </Table>
      {deleted && (
        <Confirm
          isOpen
          onClose={() => setDeleted(undefined)}
          title={`Delete the role ${deleted.display_name}?`}
          description="A role that somebody has is not deleted: give them another one first."
          action="Delete"
          isDangerous
          onConfirm={() => remove(deleted)}
        />
      )}
    </>
  );
}
