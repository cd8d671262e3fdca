import type { PersonalTokenCreate } from '@runyard/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Fault } from '../../../components/fault.tsx';
import { CheckField, SelectField, TextField } from '../../../components/field.tsx';
import { useAction, useRequest } from '../../../components/use-action.ts';
import { createPersonalToken } from '../../../platform/keys.ts';
import { expiresAt, firstExpiry } from '../parts/expiry.ts';
import { ExpiryField, useWorkspaces } from '../parts/fields.tsx';
import { SecretDialog, type ShownSecret } from '../parts/secret.tsx';
import { useOrganization } from '../parts/use-organization.ts';

/** Makes a token of the person, which is shown once. */
export function NewToken({ onClose }: { onClose: () => void }) {
  const { workspaceId, organization } = useOrganization();
  const client = useQueryClient();
  const workspaces = useWorkspaces();
  const maxDays = organization?.max_pat_expiry_days ?? null;
  const [form, setForm] = useState(() => ({
    description: '',
    isReadOnly: false,
    expiry: firstExpiry(maxDays),
    defaultWorkspaceId: workspaceId,
  }));
  const [secret, setSecret] = useState<ShownSecret>();
  const { run, isBusy, error } = useAction();
  const requestFor = useRequest<PersonalTokenCreate>();
  const make = async () => {
    const { body, key } = requestFor(form, () => ({
      description: form.description.trim(),
      read_only: form.isReadOnly,
      expires_at: expiresAt(form.expiry, new Date()),
      default_workspace_id: form.defaultWorkspaceId || null,
    }));
    const { key: value } = await createPersonalToken(workspaceId, body, key);
    setSecret({ label: 'The token', value, note: 'Whoever has it may what you may. It is shown this once.' });
    await client.invalidateQueries({ queryKey: ['keys', workspaceId] });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run(make);
  };
  if (secret) return <SecretDialog title="The token is made" secret={secret} onClose={onClose} />;
  return (
    <Dialog isOpen onClose={onClose} title="New personal access token">
      <form onSubmit={submit} className="flex flex-col gap-3">
        <TextField
          label="Description"
          hint="Says later what the token is for"
          maxLength={500}
          autoComplete="off"
          value={form.description}
          onChange={({ target }) => setForm({ ...form, description: target.value })}
        />
        <ExpiryField expiry={form.expiry} maxDays={maxDays} onChange={(expiry) => setForm({ ...form, expiry })} />
        <CheckField
          label="It only reads"
          isChecked={form.isReadOnly}
          onChange={(isReadOnly) => setForm({ ...form, isReadOnly })}
        />
        <SelectField
          label="Acts in, where a request names no workspace"
          value={form.defaultWorkspaceId}
          onChange={({ target }) => setForm({ ...form, defaultWorkspaceId: target.value })}
          options={[
            { value: '', label: 'My only workspace, or none' },
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
    </Dialog>
  );
}
