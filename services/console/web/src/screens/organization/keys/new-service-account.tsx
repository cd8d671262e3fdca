import type { ServiceAccountCreate } from '@runyard/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Confirm } from '../../../components/dialog.tsx';
import { SelectField, TextField } from '../../../components/field.tsx';
import { useRequest } from '../../../components/use-action.ts';
import { createServiceAccount } from '../../../platform/keys.ts';
import { rolesQuery } from '../../../platform/roles.ts';
import { Group, useWorkspaces } from '../parts/fields.tsx';
import { useOrganization } from '../parts/use-organization.ts';
import { roleOptions } from './role-options.ts';

/** Makes a service account, with a role in each of its workspaces. */
export function NewServiceAccount({ onClose }: { onClose: () => void }) {
  const { workspaceId, isAdministrator } = useOrganization();
  const client = useQueryClient();
  const workspaces = useWorkspaces();
  const { data: roles = [] } = useQuery(rolesQuery(workspaceId));
  const [name, setName] = useState('');
  const [isEverywhere, setIsEverywhere] = useState(false);
  const [orgRoleId, setOrgRoleId] = useState('');
  const [roleIds, setRoleIds] = useState<Record<string, string>>({});
  const requestFor = useRequest<ServiceAccountCreate>();
  const make = async () => {
    const chosen = Object.entries(roleIds).filter(([, roleId]) => roleId !== '');
    if (name.trim() === '') throw new Error('Give the account a name');
    if (!isEverywhere && chosen.length === 0) throw new Error('Give the account a role in a workspace');
    const body: ServiceAccountCreate = {
      name: name.trim(),
      ...(!isEverywhere && { workspaces: chosen.map(([id, roleId]) => ({ workspace_id: id, role_id: roleId })) }),
      ...(orgRoleId !== '' && { org_role_id: orgRoleId }),
    };
    await createServiceAccount(workspaceId, body, requestFor(body, () => body).key);
    await client.invalidateQueries({ queryKey: ['keys', workspaceId] });
  };
  return (
    <Confirm isOpen onClose={onClose} title="New service account" action="Create" onConfirm={make}>
      <TextField
        label="Name"
        maxLength={500}
        autoComplete="off"
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <SelectField
        label="Role in the organization"
        value={orgRoleId}
        onChange={({ target }) => setOrgRoleId(target.value)}
        options={roleOptions(roles, 'organization', 'Default: Organization User')}
      />
      <SelectField
        label="Works in"
        value={isEverywhere ? 'everywhere' : 'workspaces'}
        hint={isAdministrator ? undefined : 'Only an Organization Admin makes accounts of the whole organization'}
        onChange={({ target }) => setIsEverywhere(target.value === 'everywhere')}
        options={[
          { value: 'workspaces', label: 'Certain workspaces' },
          ...(isAdministrator ? [{ value: 'everywhere', label: 'Every workspace, future ones too' }] : []),
        ]}
      />
      {!isEverywhere && (
        <Group legend="Its role in each workspace">
          {workspaces.map(({ id, display_name: label }) => (
            <SelectField
              key={id}
              label={label}
              value={roleIds[id] ?? ''}
              onChange={({ target }) => setRoleIds({ ...roleIds, [id]: target.value })}
              options={roleOptions(roles, 'workspace', 'None')}
            />
          ))}
        </Group>
      )}
    </Confirm>
  );
}
