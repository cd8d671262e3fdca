import type { PermissionMeaning, Role, RoleCreate } from '@runyard/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Fault } from '../../../components/fault.tsx';
import { CheckField, TextField } from '../../../components/field.tsx';
import { useAction, useRequest } from '../../../components/use-action.ts';
import { createRole, rolesQuery, updateRole } from '../../../platform/roles.ts';
import { useWorkspace } from '../../../session/session.ts';
import { Group } from '../parts/fields.tsx';

interface Props {
  /** The role that is changed; missing: a new one. */
  role?: Role;
  permissions: readonly PermissionMeaning[];
  onClose: () => void;
}

/** Makes a custom role, or changes one. */
export function RoleDialog({ role, permissions, onClose }: Props) {
  const { id: workspaceId } = useWorkspace();
  const client = useQueryClient();
  const [name, setName] = useState(role?.display_name ?? '');
  const [description, setDescription] = useState(role?.description ?? '');
  const [given, setGiven] = useState<readonly string[]>(role?.permissions ?? []);
  const { run, isBusy, error } = useAction();
  const requestFor = useRequest<RoleCreate>();
  const save = async () => {
    const body = { display_name: name.trim(), description: description.trim(), permissions: [...given] };
    if (role) await updateRole(workspaceId, role.id, body);
    else await createRole(workspaceId, body, requestFor(body, () => body).key);
    await client.invalidateQueries(rolesQuery(workspaceId));
    onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run(save);
  };
  const choices = permissions.filter((each) => each.access_scope === 'workspace');
  const check = ({ name, description }: PermissionMeaning) => (
    <CheckField
      key={name}
      label={<code className="break-all">{name}</code>}
      hint={description}
      isChecked={given.includes(name)}
      onChange={(isChecked) => setGiven(isChecked ? [...given, name] : given.filter((each) => each !== name))}
    />
  );
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={role ? `Change the role ${role.display_name}` : 'New role'}
      description={
        role &&
        'Changed permissions hold for all who have the role from the next request. The sessions of these people end.'
      }
    >
      <form onSubmit={submit} className="flex flex-col gap-3">
        <TextField
          label="Name"
          required
          maxLength={100}
          autoComplete="off"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <TextField
          label="Description"
          maxLength={1000}
          autoComplete="off"
          value={description}
          onChange={({ target }) => setDescription(target.value)}
        />
        <Group legend="Permissions">{choices.filter((each) => each.has_effect).map(check)}</Group>
        <details>
          <summary className="cursor-pointer text-faint">Permissions of LangSmith that give nothing here</summary>
          <div className="mt-2 flex flex-col gap-2">
            {choices
              .filter((each) => !each.has_effect)
              .map(({ name, ...rest }) => check({ name, ...rest, description: '' }))}
          </div>
        </details>
        <Fault error={error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="first" unavailable={isBusy ? 'It is being done' : undefined}>
            {role ? 'Save' : 'Create'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
