import type { ScimToken } from '@runyard/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Fault } from '../../../components/fault.tsx';
import { TextField } from '../../../components/field.tsx';
import { useAction } from '../../../components/use-action.ts';
import { createScimToken, describeScimToken } from '../../../platform/scim.ts';
import { useWorkspace } from '../../../session/session.ts';
import { SecretDialog, type ShownSecret } from '../parts/secret.tsx';

/** Makes a token, which is shown once, or describes one anew. */
export function TokenDialog({ token, onClose }: { token?: ScimToken; onClose: () => void }) {
  const { id: workspaceId } = useWorkspace();
  const client = useQueryClient();
  const [description, setDescription] = useState(token?.description ?? '');
  const [secret, setSecret] = useState<ShownSecret>();
  const { run, isBusy, error } = useAction();
  const save = async () => {
    if (token) await describeScimToken(workspaceId, token.id, description.trim());
    else {
      const { token: value } = await createScimToken(workspaceId, description.trim());
      setSecret({ label: 'The token', value, note: 'Enter it at the identity provider. It is shown this once.' });
    }
    await client.invalidateQueries({ queryKey: ['scim', workspaceId, 'tokens'] });
    if (token) onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run(save);
  };
  if (secret) return <SecretDialog title="The token is made" secret={secret} onClose={onClose} />;
  return (
    <Dialog isOpen onClose={onClose} title={token ? `Describe ${token.description}` : 'New SCIM token'}>
      <form onSubmit={submit} className="flex flex-col gap-3">
        <TextField
          label="Description"
          hint="Names the identity provider that has the token"
          required
          maxLength={500}
          autoComplete="off"
          value={description}
          onChange={({ target }) => setDescription(target.value)}
        />
        <Fault error={error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="first" unavailable={isBusy ? 'It is being saved' : undefined}>
            {token ? 'Save' : 'Create'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
