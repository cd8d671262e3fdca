import type { ApiKey } from '@runyard/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Confirm } from '../../../components/dialog.tsx';
import { SelectField } from '../../../components/field.tsx';
import { updateServiceKey } from '../../../platform/keys.ts';
import { rolesQuery } from '../../../platform/roles.ts';
import { useWorkspace } from '../../../session/session.ts';
import { roleOptions } from './role-options.ts';

/** Changes the roles of a key. */
export function ChangeKeyRoles({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const { id: workspaceId } = useWorkspace();
  const client = useQueryClient();
  const { data: roles = [] } = useQuery(rolesQuery(workspaceId));
  const [roleId, setRoleId] = useState('');
  const [orgRoleId, setOrgRoleId] = useState('');
  const save = async () => {
    const body = { ...(roleId && { role_id: roleId }), ...(orgRoleId && { org_role_id: orgRoleId }) };
    await updateServiceKey(workspaceId, apiKey.id, body);
    await client.invalidateQueries({ queryKey: ['keys', workspaceId] });
  };
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={`Roles of ${apiKey.description || apiKey.short_key}`}
      description="They are those of its service account, and so of all its keys. In force at once."
      action="Save"
      onConfirm={save}
    >
      <SelectField
        label="In its workspaces"
        value={roleId}
        onChange={({ target }) => setRoleId(target.value)}
        options={roleOptions(roles, 'workspace', 'As it is')}
      />
      <SelectField
        label="In the organization"
        value={orgRoleId}
        onChange={({ target }) => setOrgRoleId(target.value)}
        options={roleOptions(roles, 'organization', 'As it is')}
      />
    </Confirm>
  );
}
