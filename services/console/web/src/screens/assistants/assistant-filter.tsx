import { type FormEvent, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import type { AssistantFilters } from '../../platform/assistants.ts';

interface AssistantFilterProps extends AssistantFilters {
  graphs: readonly string[];
  onFilter(change: AssistantFilters): void;
}

/** Chooses assistants by their graph and a part of their name. */
export function AssistantFilter({ graph, name, graphs, onFilter }: AssistantFilterProps) {
  const [text, setText] = useState(name ?? '');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onFilter({ name: text.trim() || undefined });
  };
  const all = graph === undefined || graphs.includes(graph) ? graphs : [graph, ...graphs];
  return (
    <search>
      <form onSubmit={submit} className="flex flex-wrap items-end gap-3">
        <SelectField
          label="Graph"
          value={graph ?? ''}
          options={[{ value: '', label: 'Any' }, ...all.map((value) => ({ value, label: value }))]}
          onChange={({ target }) => onFilter({ graph: target.value || undefined })}
        />
        <TextField label="Name" type="search" value={text} onChange={({ target }) => setText(target.value)} />
        <Button type="submit">Search</Button>
        {(graph !== undefined || name !== undefined) && (
          <Button look="quiet" onClick={() => onFilter({ graph: undefined, name: undefined })}>
            Clear
          </Button>
        )}
      </form>
    </search>
  );
}
