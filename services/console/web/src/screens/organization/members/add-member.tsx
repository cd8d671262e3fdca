import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Fault } from '../../../components/fault.tsx';
import { SelectField, TextField } from '../../../components/field.tsx';
import { useAction, useRequest } from '../../../components/use-action.ts';
import { addAccount, addMember } from '../../../platform/members.ts';
import { rolesQuery } from '../../../platform/roles.ts';
import { WorkspacesField } from '../parts/fields.tsx';
import { SecretDialog, type ShownSecret } from '../parts/secret.tsx';
import { useOrganization } from '../parts/use-organization.ts';
import { EMPTY, type NewMemberForm, requestOf } from './new-member.ts';

const HOW: { value: NewMemberForm['how']; label: string }[] = [
  { value: 'invite', label: 'Invite: they accept by a link' },
  { value: 'direct', label: 'At once: they get in with the first sign-in of this address' },
  { value: 'account', label: 'At once, with an account and a password' },
];

/** Invites a person, or makes them a member. Links and passwords are shown once, after it. */
export function AddMember({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [secret, setSecret] = useState<ShownSecret>();
  const close = () => {
    setSecret(undefined);
    onClose();
  };
  if (secret) return <SecretDialog title="The person is added" secret={secret} onClose={close} />;
  return (
    <Dialog isOpen={isOpen} onClose={close} title="Add a person">
      <Form onClose={close} onSecret={setSecret} />
    </Dialog>
  );
}

function Form({ onClose, onSecret }: { onClose: () => void; onSecret: (secret: ShownSecret) => void }) {
  const { workspaceId, missingAdministrator } = useOrganization();
  const client = useQueryClient();
  const { data: roles = [] } = useQuery(rolesQuery(workspaceId));
  const [form, setForm] = useState(EMPTY);
  const { run, isBusy, error } = useAction();
  const requestFor = useRequest<ReturnType<typeof requestOf>>();
  const set = (change: Partial<NewMemberForm>) => setForm({ ...form, ...change });
  const add = async () => {
    const { body, key } = requestFor(form, () => requestOf(form));
    const secret = await addPerson(workspaceId, form.how, body, key);
    await client.invalidateQueries({ queryKey: ['members', workspaceId] });
    if (secret) onSecret(secret);
    else onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run(add);
  };
  const choices = (scope: 'organization' | 'workspace', first: string) => [
    { value: '', label: first },
    ...roles.filter((role) => role.access_scope === scope).map(({ id, display_name: label }) => ({ value: id, label })),
  ];
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <TextField
        label="Email address"
        type="email"
        required
        autoComplete="off"
        value={form.email}
        onChange={({ target }) => set({ email: target.value })}
      />
      <SelectField
        label="How"
        value={form.how}
        onChange={({ target }) => set({ how: target.value as NewMemberForm['how'] })}
        options={missingAdministrator ? HOW.filter(({ value }) => value !== 'account') : HOW}
        hint={missingAdministrator && 'Only an Organization Admin makes accounts with passwords'}
      />
      <TextField
        label="Name"
        hint="For people who are new here; others keep theirs"
        autoComplete="off"
        maxLength={200}
        value={form.name}
        onChange={({ target }) => set({ name: target.value })}
      />
      <SelectField
        label="Role in the organization"
        value={form.roleId}
        onChange={({ target }) => set({ roleId: target.value })}
        options={choices('organization', 'Default: Organization User')}
      />
      <WorkspacesField
        legend="Workspaces"
        chosen={form.workspaceIds}
        onChange={(workspaceIds) => set({ workspaceIds })}
      />
      {form.workspaceIds.length > 0 && (
        <SelectField
          label="Role in these workspaces"
          value={form.workspaceRoleId}
          onChange={({ target }) => set({ workspaceRoleId: target.value })}
          options={choices('workspace', 'Default: Editor')}
        />
      )}
      <Fault error={error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="first" unavailable={isBusy ? 'It is being done' : undefined}>
          {form.how === 'invite' ? 'Invite' : 'Add'}
        </Button>
      </div>
    </form>
  );
}

/** Adds the person, and returns what has to be given to them; undefined where nothing has. @throws PlatformError */
async function addPerson(
  workspaceId: string,
  how: NewMemberForm['how'],
  body: ReturnType<typeof requestOf>,
  key: string,
): Promise<ShownSecret | undefined> {
  if (how === 'account') {
    const { password } = await addAccount(workspaceId, body, key);
    return { label: 'The password', value: password, note: `Give it to ${body.email}. It is shown this once.` };
  }
  const { invite_link: link } = await addMember(workspaceId, body, key);
  if (link === null) return undefined;
  const note = `The platform sends no email: give the link to ${body.email}. It is shown this once.`;
  return { label: 'The link of the invite', value: link, note };
}
