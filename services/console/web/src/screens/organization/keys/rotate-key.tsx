import type { ApiKey, ServiceKeyRotation } from '@runyard/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Fault } from '../../../components/fault.tsx';
import { SelectField } from '../../../components/field.tsx';
import { useAction, useRequest } from '../../../components/use-action.ts';
import { rotateServiceKey } from '../../../platform/keys.ts';
import { expiresAt, firstExpiry } from '../parts/expiry.ts';
import { ExpiryField } from '../parts/fields.tsx';
import { SecretDialog, type ShownSecret } from '../parts/secret.tsx';
import { useOrganization } from '../parts/use-organization.ts';

const HOUR_MS = 3_600_000;
const OLD_ENDS = [
  { value: '0', label: 'Now' },
  { value: '1', label: 'In an hour' },
  { value: '24', label: 'In a day' },
  { value: '168', label: 'In a week' },
];

/** Makes a key in place of another, which ends a little later. */
export function RotateKey({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const { workspaceId, organization } = useOrganization();
  const client = useQueryClient();
  const maxDays = organization?.max_service_key_expiry_days ?? null;
  const [expiry, setExpiry] = useState(() => firstExpiry(maxDays));
  const [oldEnds, setOldEnds] = useState('24');
  const [secret, setSecret] = useState<ShownSecret>();
  const { run, isBusy, error } = useAction();
  const requestFor = useRequest<ServiceKeyRotation>();
  const name = apiKey.description || apiKey.short_key;
  const rotate = async () => {
    const now = new Date();
    const { body, key } = requestFor({ expiry, oldEnds }, () => ({
      expires_at: expiresAt(expiry, now),
      old_key_expires_at: endOfOld(apiKey, Number(oldEnds), now),
    }));
    const { key: value } = await rotateServiceKey(workspaceId, apiKey.id, body, key);
    setSecret({
      label: 'The key',
      value,
      note: 'Give it to the program in place of the old one. It is shown this once.',
    });
    await client.invalidateQueries({ queryKey: ['keys', workspaceId] });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run(rotate);
  };
  if (secret) return <SecretDialog title={`A new key for ${name}`} secret={secret} onClose={onClose} />;
  return (
    <Dialog isOpen onClose={onClose} title={`Rotate ${name}`} description="The new key has the roles of the old one.">
      <form onSubmit={submit} className="flex flex-col gap-3">
        <ExpiryField expiry={expiry} maxDays={maxDays} onChange={setExpiry} />
        <SelectField
          label="The old key ends"
          value={oldEnds}
          onChange={({ target }) => setOldEnds(target.value)}
          options={OLD_ENDS}
        />
        <Fault error={error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="first" unavailable={isBusy ? 'It is being done' : undefined}>
            Rotate
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** No later than it would end anyway: the platform takes nothing later. */
function endOfOld({ expires_at: end }: ApiKey, hours: number, now: Date): string {
  const chosen = now.getTime() + hours * HOUR_MS;
  return new Date(end === null ? chosen : Math.min(chosen, Date.parse(end))).toISOString();
}
