import type { Deployment } from '@runyard/contracts';
import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Empty } from '../../../components/empty.tsx';
import { SaveBar } from './save-bar.tsx';
import { draftFaults, draftsOf, type VariableDraft, variablesPatch } from './variable-changes.ts';
import { VariableRow } from './variable-row.tsx';

/** The drafts of a person, and the deployment from which they began. */
interface Editing {
  base: Deployment;
  drafts: readonly VariableDraft[];
}

/** The variables of a deployment: values, and references to secrets elsewhere. */
export function VariablesForm({ deployment }: { deployment: Deployment }) {
  const [editing, setEditing] = useState<Editing>();
  const [added, setAdded] = useState(0);
  const readable = draftsOf(deployment);
  if (readable === null) return <References deployment={deployment} />;
  const drafts = editing?.drafts ?? readable;
  const edit = (drafts: readonly VariableDraft[]) => setEditing({ base: editing?.base ?? deployment, drafts });
  const add = (draft: VariableDraft) => {
    setAdded(added + 1);
    edit([...drafts, draft]);
  };
  const faults = draftFaults(drafts);
  const baseDrafts = editing && draftsOf(editing.base);
  const isStale = baseDrafts && variablesPatch(deployment, baseDrafts) !== undefined;
  const stale = isStale ? 'They were changed by somebody else meanwhile: discard yours and begin anew' : undefined;
  return (
    <>
      {drafts.length === 0 && <Empty title="No variables">Code of the project reads them from its environment.</Empty>}
      <ul className="flex flex-col gap-3">
        {drafts.map((draft) => (
          <li key={draft.key}>
            <VariableRow
              draft={draft}
              // A name of which nothing was typed yet is no fault.
              fault={draft.name === '' ? undefined : faults.get(draft.key)}
              onChange={(changed) => edit(drafts.map((each) => (each.key === draft.key ? changed : each)))}
              onRemove={() => edit(drafts.filter(({ key }) => key !== draft.key))}
            />
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => add({ key: `new-${added}`, kind: 'value', name: '', value: '' })}>Add a value</Button>
        <Button
          onClick={() =>
            add({
              key: `new-${added}`,
              kind: 'reference',
              name: '',
              secret_name: 'workspace-secrets',
              secret_key: '',
            })
          }
        >
          Add a reference to a secret
        </Button>
      </div>
      {stale && (
        <p role="alert" className="text-fault">
          {stale}.
        </p>
      )}
      <SaveBar
        deploymentId={deployment.id}
        patch={editing && variablesPatch(deployment, drafts)}
        fault={stale ?? [...faults.values()][0]}
        onSaved={() => setEditing(undefined)}
      />
    </>
  );
}

function References({ deployment }: { deployment: Deployment }) {
  return (
    <>
      <p className="text-faint">
        You may not read the variables: that needs the permission deployments:update in this workspace.
      </p>
      <ul>
        {deployment.secret_references.map(({ name, secret_name: secret, secret_key: key }) => (
          <li key={name} className="font-mono text-xs break-all">
            {name} = {secret} / {key}
          </li>
        ))}
      </ul>
    </>
  );
}
