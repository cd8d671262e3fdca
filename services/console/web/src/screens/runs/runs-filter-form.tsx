import type { RunFacets } from '@runyard/contracts';
import type { FormEvent } from 'react';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { toLocalField } from '../../components/time.tsx';
import { type Range, type RunFilters, readRunFilters, STATUSES, toggleValue } from './run-filters.ts';

interface FilterFormProps {
  filters: RunFilters;
  facets: RunFacets | undefined;
  deploymentNames: ReadonlyMap<string, string>;
  onChange: (filters: RunFilters) => void;
}

const RANGE_OPTIONS = [
  { value: '', label: 'Any time' },
  { value: 'hour', label: 'The last hour' },
  { value: 'day', label: 'The last 24 hours' },
  { value: 'week', label: 'The last 7 days' },
  { value: 'own', label: 'From … to …' },
];

/** The filters beside the runs: those of the address, with how many runs each would leave. */
export function RunsFilterForm({ filters, facets, deploymentNames, onChange }: FilterFormProps) {
  const toggle = (name: 'deployment' | 'graph' | 'assistant') => (value: string) =>
    onChange(toggleValue(filters, name, value));
  const counts = facets?.facets;
  return (
    <div className="flex flex-col gap-4">
      <FacetList
        title="Deployment"
        values={counts?.deployment_id}
        chosen={filters.deployment}
        nameOf={(id) => deploymentNames.get(id)}
        onToggle={toggle('deployment')}
      />
      <FacetList title="Graph" values={counts?.graph_id} chosen={filters.graph} onToggle={toggle('graph')} />
      <FacetList
        title="Assistant"
        values={counts?.assistant_id}
        chosen={filters.assistant}
        onToggle={toggle('assistant')}
      />
      <FacetList
        title="Error"
        values={counts?.error}
        chosen={filters.error}
        onToggle={(error) => onChange({ ...filters, error: filters.error === error ? undefined : error })}
      />
      <RangeFields {...{ filters, onChange }} />
      <WordFields key={JSON.stringify(filters)} {...{ filters, onChange }} />
      {facets && !facets.is_complete && (
        <p className="text-xs text-faint">Counted among the newest {facets.runs.toLocaleString('en')} runs.</p>
      )}
    </div>
  );
}

/** The statuses, each of which can be left in or out. */
export function StatusChips({ filters, facets, onChange }: Omit<FilterFormProps, 'deploymentNames'>) {
  const chosen = filters.status?.split(',') ?? [];
  return (
    <fieldset className="flex flex-wrap items-center gap-1.5">
      <legend className="sr-only">Status</legend>
      {STATUSES.map((status) => {
        const runs = facets?.facets.status.find(({ value }) => value === status)?.runs;
        return (
          <Button
            key={status}
            size="small"
            aria-pressed={chosen.includes(status)}
            className="aria-pressed:border-action aria-pressed:bg-chosen"
            onClick={() => onChange(toggleValue(filters, 'status', status))}
          >
            {status} {runs !== undefined && <span className="text-faint">{runs.toLocaleString('en')}</span>}
          </Button>
        );
      })}
    </fieldset>
  );
}

interface FacetListProps {
  title: string;
  values: readonly { value: string; runs: number }[] | undefined;
  chosen: string | undefined;
  nameOf?: (value: string) => string | undefined;
  onToggle: (value: string) => void;
}

const FACETS_SHOWN = 6;

function FacetList({ title, values = [], chosen, nameOf, onToggle }: FacetListProps) {
  const [isWhole, setIsWhole] = useState(false);
  const picked = title === 'Error' ? (chosen ? [chosen] : []) : (chosen?.split(',') ?? []);
  const missing = picked.filter((value) => !values.some((each) => each.value === value));
  const all = [...missing.map((value) => ({ value, runs: undefined })), ...values];
  if (all.length === 0) return null;
  return (
    <fieldset className="flex min-w-0 flex-col gap-0.5">
      <legend className="mb-1 text-xs font-semibold">{title}</legend>
      {(isWhole ? all : all.slice(0, FACETS_SHOWN)).map(({ value, runs }) => (
        <Button
          key={value}
          look="quiet"
          size="small"
          aria-pressed={picked.includes(value)}
          title={value}
          className="min-h-6 w-full justify-between aria-pressed:border-action aria-pressed:bg-chosen"
          onClick={() => onToggle(value)}
        >
          <span className="min-w-0 truncate">{nameOf?.(value) ?? value}</span>
          <span className="text-faint">{runs?.toLocaleString('en')}</span>
        </Button>
      ))}
      {all.length > FACETS_SHOWN && (
        <Button look="quiet" size="small" onClick={() => setIsWhole(!isWhole)}>
          {isWhole ? 'Fewer' : `${all.length - FACETS_SHOWN} more`}
        </Button>
      )}
    </fieldset>
  );
}

function RangeFields({ filters, onChange }: Pick<FilterFormProps, 'filters' | 'onChange'>) {
  const [isOwn, setIsOwn] = useState(filters.from !== undefined || filters.to !== undefined);
  const choose = (value: string) => {
    setIsOwn(value === 'own');
    const { range: _, from: __, to: ___, ...rest } = filters;
    onChange(value === '' || value === 'own' ? rest : { ...rest, range: value as Range });
  };
  const set = (name: 'from' | 'to', value: string) => {
    const { range: _, [name]: __, ...rest } = filters;
    onChange(value === '' ? rest : { ...rest, [name]: new Date(value).toISOString() });
  };
  return (
    <div className="flex flex-col gap-2">
      <SelectField
        label="Created"
        options={RANGE_OPTIONS}
        value={isOwn ? 'own' : (filters.range ?? '')}
        onChange={({ target }) => choose(target.value)}
      />
      {isOwn &&
        (['from', 'to'] as const).map((name) => (
          <TextField
            key={name}
            label={name === 'from' ? 'From' : 'To'}
            type="datetime-local"
            value={toLocalField(filters[name])}
            onChange={({ target }) => set(name, target.value)}
          />
        ))}
    </div>
  );
}

/** Filters that are typed. They hold once they are entered. */
function WordFields({ filters, onChange }: Pick<FilterFormProps, 'filters' | 'onChange'>) {
  const apply = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const words = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>;
    const rest = Object.fromEntries(Object.entries(filters).filter(([name]) => !(name in words)));
    onChange({ ...rest, ...readRunFilters(words) });
  };
  return (
    <form onSubmit={apply} className="flex flex-col gap-2">
      <TextField label="Words of the error" name="error" defaultValue={filters.error} />
      <TextField label="Thread" name="thread" defaultValue={filters.thread} placeholder="id" />
      <TextField
        label="Metadata"
        name="metadata"
        defaultValue={filters.metadata}
        placeholder="customer=c-42"
        hint="key=value, several with &"
      />
      <TextField label="Took at least (ms)" name="slow" inputMode="numeric" defaultValue={filters.slow} />
      <TextField label="Tokens at least" name="tokens" inputMode="numeric" defaultValue={filters.tokens} />
      <TextField
        label="Made by"
        name="creator"
        defaultValue={filters.creator}
        placeholder="id"
        hint="a person, a service account, or a user of the project"
      />
      <TextField label="Key" name="key" defaultValue={filters.key} placeholder="id" />
      <Button type="submit" size="small">
        Apply
      </Button>
    </form>
  );
}
