import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { CheckField, SelectField, TextField } from '../../../components/field.tsx';
import { useWorkspace, workspacesQuery } from '../../../session/session.ts';
import { EXPIRIES, type Expiry } from './expiry.ts';

/** Fields that belong together. */
export function Group({ legend, hint, children }: { legend: string; hint?: string; children: ReactNode }) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-2 rounded border border-line p-3">
      <legend className="px-1 text-xs font-semibold">{legend}</legend>
      {hint && <p className="text-xs text-faint">{hint}</p>}
      {children}
    </fieldset>
  );
}

/** The workspaces of this organization that the person reaches. */
export function useWorkspaces() {
  const { id } = useWorkspace();
  const { data = [] } = useQuery(workspacesQuery);
  const organizationId = data.find((workspace) => workspace.id === id)?.organization_id;
  return data.filter((workspace) => workspace.organization_id === organizationId);
}

/** Chooses workspaces. */
export function WorkspacesField({
  legend,
  hint,
  chosen,
  onChange,
}: {
  legend: string;
  hint?: string;
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}) {
  const workspaces = useWorkspaces();
  return (
    <Group legend={legend} {...(hint && { hint })}>
      {workspaces.map(({ id, display_name: name }) => (
        <CheckField
          key={id}
          label={name}
          isChecked={chosen.includes(id)}
          onChange={(isChecked) => onChange(isChecked ? [...chosen, id] : chosen.filter((each) => each !== id))}
        />
      ))}
    </Group>
  );
}

/** Chooses when a key ends. */
export function ExpiryField({
  expiry,
  maxDays,
  onChange,
}: {
  expiry: Expiry;
  /** Days that a key of the organization may live at most; null: any time. */
  maxDays: number | null;
  onChange: (expiry: Expiry) => void;
}) {
  return (
    <>
      <SelectField
        label="Ends"
        {...(maxDays !== null && { hint: `Keys of this organization live for ${maxDays} days at most` })}
        value={expiry.after}
        onChange={({ target }) => onChange({ ...expiry, after: target.value as Expiry['after'] })}
        options={EXPIRIES.filter(({ days }) => maxDays === null || (days !== null && days <= maxDays))}
      />
      {expiry.after === 'date' && (
        <TextField
          label="The last day"
          type="date"
          value={expiry.date}
          onChange={({ target }) => onChange({ ...expiry, date: target.value })}
        />
      )}
    </>
  );
}
