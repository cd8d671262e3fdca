import type { Role } from '@runyard/contracts';
import { CheckField, SelectField, TextField } from '../../../components/field.tsx';
import { Group, WorkspacesField } from '../parts/fields.tsx';
import { ATTRIBUTES, type ProviderForm } from './provider-form.ts';

interface PeopleProps {
  form: ProviderForm;
  set: (change: Partial<ProviderForm>) => void;
}

/** The people whom a provider sends: their domains, and the roles of those who are new. */
export function PeopleFields({
  form,
  set,
  roles,
  isDefault,
}: PeopleProps & { roles: readonly Role[]; isDefault: boolean }) {
  return (
    <>
      <TextField
        label="Domains of email addresses"
        hint={
          isDefault
            ? 'People with such an address are sent to this provider. Separated by commas.'
            : 'Each needs its TXT record first: runyard-sso=<id of the organization> at _runyard-sso.<domain>. Separated by commas.'
        }
        autoComplete="off"
        spellCheck={false}
        value={form.domains}
        onChange={({ target }) => set({ domains: target.value })}
      />
      <SelectField
        label="Role of new people"
        hint="Of those who are provisioned at their first sign-in"
        value={form.roleId}
        onChange={({ target }) => set({ roleId: target.value })}
        options={roles
          .filter(({ access_scope: scope }) => scope === 'workspace')
          .map(({ id: value, display_name: label }) => ({ value, label }))}
      />
      <WorkspacesField
        legend="Workspaces of new people"
        chosen={form.workspaceIds}
        onChange={(workspaceIds) => set({ workspaceIds })}
      />
    </>
  );
}

/** The roles that groups of a provider give at sign-in. */
export function GroupFields({ form, set, separator }: PeopleProps & { separator: string }) {
  const example = ['Organization User', 'Workspace 1', 'Editor'].join(separator);
  return (
    <Group legend="Groups">
      <CheckField
        label="Groups give roles"
        hint={`By their names, such as "${example}"`}
        isChecked={form.areGroupsRead}
        onChange={(areGroupsRead) => set({ areGroupsRead })}
      />
      {form.areGroupsRead && (
        <>
          <TextField
            label="Claim or attribute of the groups"
            required
            autoComplete="off"
            spellCheck={false}
            value={form.groupsClaim}
            onChange={({ target }) => set({ groupsClaim: target.value })}
          />
          <CheckField
            label="Nobody gets in without such a group"
            isChecked={form.areGroupsRequired}
            onChange={(areGroupsRequired) => set({ areGroupsRequired })}
          />
          <CheckField
            label="At each sign-in, not only at the first"
            isChecked={form.areGroupsSynced}
            onChange={(areGroupsSynced) => set({ areGroupsSynced })}
          />
        </>
      )}
    </Group>
  );
}

/** The claims that attributes of people are read from. */
export function ClaimFields({ form, set }: PeopleProps) {
  return (
    <details className="rounded border border-line p-3">
      <summary className="cursor-pointer text-xs font-semibold">Claims of people</summary>
      <div className="mt-2 flex flex-col gap-2">
        <p className="text-xs text-faint">
          Where the provider calls them otherwise than usual. Empty: the usual names.
        </p>
        {ATTRIBUTES.map(({ name, label }) => (
          <TextField
            key={name}
            label={label}
            autoComplete="off"
            spellCheck={false}
            maxLength={500}
            value={form.claims[name]}
            onChange={({ target }) => set({ claims: { ...form.claims, [name]: target.value } })}
          />
        ))}
      </div>
    </details>
  );
}
