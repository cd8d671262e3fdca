import type { UsageGroup } from '@runyard/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { SelectField, TextField } from '../../components/field.tsx';
import { deploymentsQuery } from '../../platform/deployments.ts';
import { usageQuery } from '../../platform/usage.ts';
import { nameOf } from '../deployments/deployment-list.ts';
import {
  daysOf,
  GROUPS,
  groupsOf,
  modelsRequest,
  periodOf,
  RANGES,
  type Range,
  rangeOf,
  type UsageChoice,
} from './usage-choice.ts';

const OWN = 'own';
const ALL = { value: '', label: 'All' };
const RANGE_OPTIONS = [
  ...Object.entries(RANGES).map(([value, { label }]) => ({ value, label })),
  { value: OWN, label: 'From … to …' },
];

interface UsageFiltersProps {
  workspaceId: string;
  choice: UsageChoice;
  onChange: (choice: UsageChoice) => void;
}

/** The choice of the usage that is shown. It is that of the address. */
export function UsageFilters({ workspaceId, choice, onChange }: UsageFiltersProps) {
  const { data: deployments = [] } = useQuery(deploymentsQuery(workspaceId));
  const [by, and] = groupsOf(choice);
  const groups = Object.entries(GROUPS).map(([value, label]) => ({ value, label }));
  const set = <Name extends keyof UsageChoice>(name: Name, value: UsageChoice[Name] | '') => {
    const { [name]: _, ...others } = choice;
    onChange(value === '' ? others : { ...others, [name]: value });
  };
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-2 lg:grid-cols-5">
      <TimeFields {...{ choice, onChange }} />
      <SelectField
        label="Told apart by"
        value={by}
        options={groups}
        onChange={({ target }) => set('by', target.value as UsageGroup)}
      />
      <SelectField
        label="And by"
        value={and ?? ''}
        options={[{ value: '', label: 'Nothing else' }, ...groups.filter(({ value }) => value !== by)]}
        onChange={({ target }) => set('and', target.value as UsageGroup | '')}
      />
      <SelectField
        label="Deployment"
        value={choice.deployment ?? ''}
        options={[ALL, ...deployments.map((each) => ({ value: each.id, label: nameOf(each) }))]}
        onChange={({ target }) => set('deployment', target.value)}
      />
      <ModelField {...{ workspaceId, choice }} onChange={(model) => set('model', model)} />
    </div>
  );
}

/** The time: one that ends now, or days of one's own, in force when one leaves their field. */
function TimeFields({ choice, onChange }: Omit<UsageFiltersProps, 'workspaceId'>) {
  const { range: _, from: __, to: ___, ...others } = choice;
  const range = rangeOf(choice);
  const days = daysOf(periodOf(choice, Date.now()));
  const choose = (value: string) => onChange({ ...others, ...(value === OWN ? days : { range: value as Range }) });
  const field = (name: 'from' | 'to', label: string) => (
    <DayField label={label} value={days[name]} onChange={(day) => onChange({ ...others, ...days, [name]: day })} />
  );
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <SelectField
        label="Time"
        value={range ?? OWN}
        options={RANGE_OPTIONS}
        onChange={({ target }) => choose(target.value)}
      />
      {range === undefined && (
        <>
          {field('from', 'From (UTC)')}
          {field('to', 'To, with this day')}
        </>
      )}
    </div>
  );
}

/** A day that is typed or picked. While it is typed, it passes through days that nobody means. */
function DayField({ label, value, onChange }: { label: string; value: string; onChange: (day: string) => void }) {
  const [text, setText] = useState(value);
  const [shown, setShown] = useState(value);
  if (shown !== value) {
    setShown(value);
    setText(value);
  }
  const apply = () => {
    if (text !== '' && text !== value) onChange(text);
  };
  return (
    <TextField
      type="date"
      label={label}
      value={text}
      onChange={({ target }) => setText(target.value)}
      onBlur={apply}
      onKeyDown={({ key }) => key === 'Enter' && apply()}
    />
  );
}

/** The models of the time, and the chosen one. */
function ModelField({
  workspaceId,
  choice,
  onChange,
}: Omit<UsageFiltersProps, 'onChange'> & { onChange: (model: string) => void }) {
  const { range, from, to, deployment, model } = choice;
  const key = { models: { range, from, to, deployment } };
  const { data } = useQuery(usageQuery(workspaceId, key, () => modelsRequest(choice, Date.now())));
  const used = data?.usage.rows.flatMap((row) => row.model?.model ?? []) ?? [];
  const models = [...new Set([...(model === undefined ? [] : [model]), ...used])].sort();
  return (
    <SelectField
      label="Model"
      value={model ?? ''}
      options={[ALL, ...models.map((name) => ({ value: name, label: name }))]}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
