import type { Deployment } from '@runyard/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, missingPermission } from '../../../components/button.tsx';
import { Fault } from '../../../components/fault.tsx';
import { TextField } from '../../../components/field.tsx';
import { deploymentQuery, deploymentsQuery, patchDeployment } from '../../../platform/deployments.ts';
import { useWorkspace } from '../../../session/session.ts';
import { nameOf } from '../../deployments/deployment-list.ts';

/** The name for people. It makes no new revision. */
export function NameForm({ deployment }: { deployment: Deployment }) {
  const workspace = useWorkspace();
  const client = useQueryClient();
  const [typed, setTyped] = useState<string>();
  const name = typed ?? nameOf(deployment);
  const save = useMutation({
    mutationFn: () => patchDeployment(workspace.id, deployment.id, { display_name: name.trim() }),
    onSuccess: (changed) => {
      setTyped(undefined);
      client.setQueryData(deploymentQuery(workspace.id, deployment.id).queryKey, changed);
      void client.invalidateQueries({ queryKey: deploymentsQuery(workspace.id).queryKey });
    },
  });
  const unavailable =
    missingPermission(workspace.may('deployments:update'), 'deployments:update') ??
    (name.trim() === '' ? 'A name is needed' : undefined) ??
    (name.trim() === nameOf(deployment) ? 'Nothing was changed' : undefined) ??
    (save.isPending ? 'It is being saved' : undefined);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (unavailable === undefined) save.mutate();
  };
  return (
    <form onSubmit={submit} className="flex max-w-xl flex-col gap-3">
      <TextField
        label="Name for people"
        hint={`Its name ${deployment.name} and its addresses stay as they are`}
        value={name}
        maxLength={255}
        onChange={({ target }) => setTyped(target.value)}
      />
      <Fault error={save.error} />
      <Button type="submit" className="self-start" unavailable={unavailable}>
        Save the name
      </Button>
    </form>
  );
}
