import { useId } from 'react';
import { Button } from '../../../components/button.tsx';
import { SelectField, TextField } from '../../../components/field.tsx';
import type { AuditFilters } from './audit-filters.ts';

interface Props {
  filters: AuditFilters;
  /** Actions of the events that are shown. */
  actions: readonly string[];
  names: ReadonlyMap<string, string>;
  onChange: (filters: AuditFilters) => void;
}

/** The filters of the audit trail. Each is in force when one leaves its field. */
export function AuditFilterForm({ filters, actions, names, onChange }: Props) {
  const list = useId();
  const set = (change: AuditFilters) => onChange({ ...filters, ...change });
  const timeField = (name: 'from' | 'to', label: string) => (
    <TextField
      key={`${name} ${filters[name]}`}
      label={label}
      type="datetime-local"
      defaultValue={filters[name] ?? ''}
      onBlur={({ target }) => target.value !== (filters[name] ?? '') && set({ [name]: target.value || undefined })}
    />
  );
  return (
    <form
      aria-label="Events"
      className="grid grid-cols-1 items-end gap-3 sm:grid-cols-2 xl:grid-cols-[repeat(4,minmax(0,1fr))_auto]"
      onSubmit={(event) => {
        event.preventDefault();
        // Enter leaves the field, and so puts it in force.
        if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
      }}
    >
      <TextField
        key={`action ${filters.action}`}
        label="Event"
        placeholder="member.added"
        list={list}
        maxLength={200}
        autoComplete="off"
        defaultValue={filters.action ?? ''}
        onBlur={({ target }) =>
          target.value.trim() !== (filters.action ?? '') && set({ action: target.value.trim() || undefined })
        }
      />
      <datalist id={list}>
        {actions.map((action) => (
          <option key={action} value={action} />
        ))}
      </datalist>
      <SelectField
        label="Who"
        value={filters.actor ?? ''}
        onChange={({ target }) => set({ actor: target.value || undefined })}
        options={[
          { value: '', label: 'Anybody' },
          ...(filters.actor && !names.has(filters.actor) ? [{ value: filters.actor, label: filters.actor }] : []),
          ...[...names].map(([value, label]) => ({ value, label })),
        ]}
      />
      {timeField('from', 'From')}
      {timeField('to', 'To')}
      <Button onClick={() => onChange({})}>Clear</Button>
    </form>
  );
}
