import type { EnrichedMember, OrgMember } from '@runyard/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Fault } from '../../../components/fault.tsx';
import { SelectField } from '../../../components/field.tsx';
import { Loading } from '../../../components/loading.tsx';
import { useAction } from '../../../components/use-action.ts';
import { memberRolesQuery, setWorkspaceRole, updateMember } from '../../../platform/members.ts';
import { rolesQuery } from '../../../platform/roles.ts';
import { useWorkspace } from '../../../session/session.ts';
import { Group, useWorkspaces } from '../parts/fields.tsx';
import { roleChanges, rolesOf } from './role-changes.ts';

/** Changes the roles of a member, in the organization and in its workspaces. */
export function ChangeRoles({ member, onClose }: { member: OrgMember; onClose: () => void }) {
  const { id: workspaceId } = useWorkspace();
  const { data, error, isPending, refetch } = useQuery(memberRolesQuery(workspaceId, member));
  return (
    <Dialog isOpen onClose={onClose} title={`Roles of ${member.display_name}`} description={member.email}>
      <Fault error={error} onRetry={() => void refetch()} />
      {isPending && <Loading what="the roles" />}
      {data === null && <p>This is no member any more.</p>}
      {data && <Form key={data.id} enriched={data} personId={member.ls_user_id} onClose={onClose} />}
    </Dialog>
  );
}

function Form({ enriched, personId, onClose }: { enriched: EnrichedMember; personId: string; onClose: () => void }) {
  const { id: workspaceId } = useWorkspace();
  const client = useQueryClient();
  const workspaces = useWorkspaces();
  const { data: roles = [] } = useQuery(rolesQuery(workspaceId));
  // Roles that change elsewhere meanwhile are not taken for the person's own changes.
  const [before] = useState(() => rolesOf(enriched));
  const [after, setAfter] = useState(before);
  const { run, isBusy, error } = useAction();
  const save = async () => {
    const changes = roleChanges(before, after);
    try {
      if (changes.organization) await updateMember(workspaceId, enriched.id, { role_id: changes.organization });
      for (const change of changes.workspaces)
        await setWorkspaceRole(change.workspaceId, { id: enriched.id, personId }, change.roleId);
    } finally {
      await client.invalidateQueries({ queryKey: ['members', workspaceId] });
    }
    onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run(save);
  };
  const options = (scope: string) =>
    roles.filter((role) => role.access_scope === scope).map(({ id, display_name: label }) => ({ value: id, label }));
  const groups = enriched.scim_groups.map(({ name }) => name).join(', ');
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      {groups && (
        <p className="text-faint">
          Groups of the identity provider decide roles of this person, and are changed there alone: {groups}
        </p>
      )}
      <SelectField
        label="In the organization"
        value={after.organization}
        onChange={({ target }) => setAfter({ ...after, organization: target.value })}
        options={options('organization')}
      />
      <Group legend="In workspaces">
        {workspaces.map(({ id, display_name: name, permissions }) => {
          const mayManage = permissions.includes('workspaces:manage-members');
          return (
            <SelectField
              key={id}
              label={name}
              value={after.workspaces[id] ?? ''}
              disabled={!mayManage}
              hint={mayManage ? undefined : 'You need the permission workspaces:manage-members in this workspace'}
              onChange={({ target }) => setAfter({ ...after, workspaces: { ...after.workspaces, [id]: target.value } })}
              options={[{ value: '', label: 'No role of its own' }, ...options('workspace')]}
            />
          );
        })}
      </Group>
      <Fault error={error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="first" unavailable={isBusy ? 'It is being done' : undefined}>
          Save
        </Button>
      </div>
    </form>
  );
}
