import type { Deployment } from '@runyard/contracts';
import { useState } from 'react';
import { TextField } from '../../../components/field.tsx';
import {
  RESOURCE_FIELDS,
  type ResourceDraft,
  resourceDraftOf,
  resourceFaults,
  resourcePatch,
} from './resource-changes.ts';
import { SaveBar } from './save-bar.tsx';

/** How many processes a deployment has, and how large they are. */
export function ResourcesForm({ deployment }: { deployment: Deployment }) {
  const [edited, setEdited] = useState<ResourceDraft>();
  const draft = edited ?? resourceDraftOf(deployment);
  const faults = resourceFaults(draft);
  return (
    <>
      <p className="text-faint">
        Servers answer requests, workers execute runs. Empty fields have the default of the type{' '}
        {deployment.source_config.deployment_type ?? 'dev'}.
      </p>
      <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
        {RESOURCE_FIELDS.map(({ name, label }) => (
          <TextField
            key={name}
            label={label}
            inputMode="decimal"
            value={draft[name]}
            fault={faults.get(name)}
            onChange={({ target }) => setEdited({ ...draft, [name]: target.value })}
          />
        ))}
      </div>
      <SaveBar
        deploymentId={deployment.id}
        patch={edited && resourcePatch(deployment, draft)}
        fault={faults.size > 0 ? 'Some fields are no numbers' : undefined}
        onSaved={() => setEdited(undefined)}
      />
    </>
  );
}
