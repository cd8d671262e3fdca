import type { ServiceAccount, ServiceKeyCreate } from '@runyard/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Fault } from '../../../components/fault.tsx';
import { CheckField, SelectField, TextField } from '../../../components/field.tsx';
import { useAction, useRequest } from '../../../components/use-action.ts';
import { createServiceKey } from '../../../platform/keys.ts';
import { rolesQuery } from '../../../platform/roles.ts';
import { expiresAt, firstExpiry } from '../parts/expiry.ts';
import { ExpiryField, useWorkspaces, WorkspacesField } from '../parts/fields.tsx';
import { SecretDialog, type ShownSecret } from '../parts/secret.tsx';
import { useOrganization } from '../parts/use-organization.ts';
import { type NewKeyForm, requestOf } from './new-key.ts';
import { roleOptions } from './role-options.ts';

/** Makes a service key: with an account of its own, or one more of `account`. */
export function NewServiceKey({ account, onClose }: { account?: ServiceAccount; onClose: () => void }) {
  const [secret, setSecret] = useState<ShownSecret>();
  if (secret) return <SecretDialog title="The key is made" secret={secret} onClose={onClose} />;
  return (
    <Dialog isOpen onClose={onClose} title={account ? `New key of ${account.name}` : 'New service key'}>
      <Form {...(account && { account })} onClose={onClose} onSecret={setSecret} />
    </Dialog>
  );
}

function Form({
  account,
  onClose,
  onSecret,
}: {
  account?: ServiceAccount;
  onClose: () => void;
  onSecret: (secret: ShownSecret) => void;
}) {
  const { workspaceId, organization, isAdministrator } = useOrganization();
  const client = useQueryClient();
  const { data: roles = [] } = useQuery(rolesQuery(workspaceId));
  const workspaces = useWorkspaces();
  const maxDays = organization?.max_service_key_expiry_days ?? null;
  const [form, setForm] = useState<NewKeyForm>(() => ({
    description: '',
    isReadOnly: false,
    expiry: firstExpiry(maxDays),
    reach: 'workspaces',
    workspaceIds: [workspaceId],
    roleId: '',
    orgRoleId: '',
    defaultWorkspaceId: '',
    accountId: account?.id ?? '',
  }));
  const { run, isBusy, error } = useAction();
  const requestFor = useRequest<ServiceKeyCreate>();
  const set = (change: Partial<NewKeyForm>) => setForm({ ...form, ...change });
  const make = async () => {
    const { body, key } = requestFor(form, () => requestOf(form, expiresAt(form.expiry, new Date())));
    const { key: value } = await createServiceKey(workspaceId, body, key);
    onSecret({
      label: 'The key',
      value,
      note: 'Give it to the program that is to act with it. It is shown this once.',
    });
    await client.invalidateQueries({ queryKey: ['keys', workspaceId] });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run(make);
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <TextField
        label="Description"
        hint="Says later what the key is for"
        maxLength={500}
        autoComplete="off"
        value={form.description}
        onChange={({ target }) => set({ description: target.value })}
      />
      <ExpiryField expiry={form.expiry} maxDays={maxDays} onChange={(expiry) => set({ expiry })} />
      <CheckField
        label="It only reads"
        hint="Of the permissions of its roles it has those to read alone"
        isChecked={form.isReadOnly}
        onChange={(isReadOnly) => set({ isReadOnly })}
      />
      {!account && (
        <>
          <SelectField
            label="Works in"
            value={form.reach}
            onChange={({ target }) => set({ reach: target.value as NewKeyForm['reach'] })}
            hint={isAdministrator ? undefined : 'Only an Organization Admin makes keys of the whole organization'}
            options={[
              { value: 'workspaces', label: 'Certain workspaces' },
              ...(isAdministrator ? [{ value: 'organization', label: 'Every workspace, future ones too' }] : []),
            ]}
          />
          {form.reach === 'workspaces' && (
            <WorkspacesField
              legend="Its workspaces"
              chosen={form.workspaceIds}
              onChange={(workspaceIds) => set({ workspaceIds })}
            />
          )}
          <SelectField
            label="Role in its workspaces"
            value={form.roleId}
            onChange={({ target }) => set({ roleId: target.value })}
            options={roleOptions(roles, 'workspace', form.isReadOnly ? 'Default: Viewer' : 'Default: Admin')}
          />
          <SelectField
            label="Role in the organization"
            value={form.orgRoleId}
            onChange={({ target }) => set({ orgRoleId: target.value })}
            options={roleOptions(roles, 'organization', 'Default: Organization User')}
          />
        </>
      )}
      <SelectField
        label="Acts in, where a request names no workspace"
        value={form.defaultWorkspaceId}
        onChange={({ target }) => set({ defaultWorkspaceId: target.value })}
        options={[
          { value: '', label: 'Its only workspace, or none' },
          ...workspaces.map(({ id: value, display_name: label }) => ({ value, label })),
        ]}
      />
      <Fault error={error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="first" unavailable={isBusy ? 'It is being made' : undefined}>
          Create
        </Button>
      </div>
    </form>
  );
}
