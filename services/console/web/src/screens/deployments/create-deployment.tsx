import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useRef, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Fault } from '../../components/fault.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { createDeployment, deploymentsQuery } from '../../platform/deployments.ts';
import { useWorkspace } from '../../session/session.ts';
import { faultsByField } from './field-faults.ts';
import { EMPTY, FIELD_PATHS, type FormField, missingFields, type NewDeployment, requestOf } from './new-deployment.ts';

/** Makes a deployment from a repository or an image. */
export function CreateDeployment({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="New deployment"
      description={
        <>
          From a Git repository or an image. To deploy the folder you work in, run <code>runyard deploy</code> or{' '}
          <code>langgraph deploy</code> there.
        </>
      }
    >
      <Form onDone={onClose} />
    </Dialog>
  );
}

function Form({ onDone }: { onDone: () => void }) {
  const workspace = useWorkspace();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [form, setForm] = useState<NewDeployment>(EMPTY);
  const [missing, setMissing] = useState(new Map<FormField, string>());
  const sent = useRef<{ body: string; key: string }>(undefined);
  const create = useMutation({
    mutationFn: () => {
      const body = requestOf(form);
      // The same request again, after an answer was lost, must not make a second deployment.
      if (sent.current?.body !== JSON.stringify(body))
        sent.current = { body: JSON.stringify(body), key: crypto.randomUUID() };
      return createDeployment(workspace.id, body, sent.current.key);
    },
    onSuccess: async ({ id: deploymentId }) => {
      await client.invalidateQueries(deploymentsQuery(workspace.id));
      onDone();
      const params = { workspaceId: workspace.id, deploymentId };
      await navigate({ to: '/w/$workspaceId/deployments/$deploymentId', params });
    },
  });
  const { byField, rest } = faultsByField(create.error, Object.values(FIELD_PATHS));
  const set = (change: Partial<NewDeployment>) => setForm({ ...form, ...change });
  const field = (name: FormField) => ({
    value: form[name],
    fault: missing.get(name) ?? byField.get(FIELD_PATHS[name]),
    onChange: ({ target }: { target: HTMLInputElement }) => set({ [name]: target.value }),
    autoComplete: 'off',
    spellCheck: false,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const missing = missingFields(form);
    setMissing(missing);
    if (missing.size === 0 && !create.isPending) create.mutate();
  };
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-3">
      <TextField label="Name" {...field('name')} />
      <SelectField
        label="From"
        value={form.kind}
        onChange={({ target }) => set({ kind: target.value as NewDeployment['kind'] })}
        options={[
          { value: 'repository', label: 'A Git repository' },
          { value: 'image', label: 'An image of a registry' },
        ]}
      />
      {form.kind === 'repository' ? (
        <>
          <TextField label="Clone URL" placeholder="https://github.com/acme/agent.git" {...field('repoUrl')} />
          <TextField label="Branch or refs/tags/<tag>" hint="Empty: the default branch" {...field('branch')} />
          <TextField label="Path of langgraph.json" {...field('configPath')} />
        </>
      ) : (
        <TextField
          label="Image"
          hint="Preferably with its digest"
          placeholder="registry.example.com/agent@sha256:…"
          {...field('imageUri')}
        />
      )}
      <SelectField
        label="Type"
        hint="It cannot change later"
        value={form.deploymentType}
        onChange={({ target }) => set({ deploymentType: target.value as NewDeployment['deploymentType'] })}
        options={[
          { value: 'dev', label: 'Development' },
          { value: 'prod', label: 'Production' },
        ]}
      />
      <Fault error={rest} />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" look="first" unavailable={create.isPending ? 'It is being made' : undefined}>
          Create
        </Button>
      </div>
    </form>
  );
}
