import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import type { BudgetsPlace } from '../../platform/budgets.ts';
import { faultsByField } from '../deployments/field-faults.ts';
import { type BudgetDraft, type BudgetField, FIELD_PATHS, faultsOfDraft } from './budget-draft.ts';
import { SubjectFields } from './subject-fields.tsx';

const MODES = {
  enforced: 'Once it is used up, new runs are refused, and those under way stop at their next checkpoint',
  shadow: 'Nothing is refused: the log of the deployment says what would have happened',
};
const REFUSALS = {
  429: 'Clients get the name of the budget and when it begins anew, also as Retry-After; SDKs try again by themselves',
  402: 'Clients get the name of the budget and when it begins anew; SDKs do not try again',
};

interface BudgetFormProps {
  place: BudgetsPlace;
  start: BudgetDraft;
  /** False for a budget that exists: whose use is counted, and in which period, stays. */
  isNew: boolean;
  /** The word on its button. */
  action: string;
  onCancel(): void;
  /** Sends a draft that has no fault. What it throws is shown, and the form stays. */
  onSave(draft: BudgetDraft): Promise<unknown>;
}

/** The fields of a budget. */
export function BudgetForm({ place, start, isNew, action, onCancel, onSave }: BudgetFormProps) {
  const [draft, setDraft] = useState(start);
  const [faults, setFaults] = useState(new Map<BudgetField, string>());
  const save = useMutation({ mutationFn: onSave });
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (faults.size > 0 || save.error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [faults, save.error]);
  // Of a budget that exists, some fields of the platform have none here at which a fault could stand.
  const shown: BudgetField[] = isNew
    ? (Object.keys(FIELD_PATHS) as BudgetField[])
    : ['name', 'tokensMax', 'runsMax', 'mode', 'refusalStatus'];
  const { byField, rest } = faultsByField(
    save.error,
    shown.map((field) => FIELD_PATHS[field]),
  );
  const faultOf = (field: BudgetField) => faults.get(field) ?? byField.get(FIELD_PATHS[field]);
  const change = (part: Partial<BudgetDraft>) => setDraft((draft) => ({ ...draft, ...part }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (save.isPending) return;
    const found = faultsOfDraft(draft);
    setFaults(found);
    save.reset();
    if (found.size === 0) save.mutate(draft);
  };
  const text = (field: 'name' | 'tokensMax' | 'runsMax') => ({
    value: draft[field],
    fault: faultOf(field),
    autoComplete: 'off',
    onChange: ({ target }: { target: HTMLInputElement }) => change({ [field]: target.value }),
  });
  return (
    <form ref={form} noValidate onSubmit={submit} className="flex min-w-0 flex-col gap-3">
      <TextField label="Name" hint="Clients that are refused are shown it" maxLength={100} {...text('name')} />
      {isNew && <SubjectFields {...{ place, draft, faultOf }} onChange={change} />}
      <TextField
        label="Tokens (optional)"
        hint="Of models, input and output; empty: any number"
        inputMode="numeric"
        {...text('tokensMax')}
      />
      <TextField
        label="Runs (optional)"
        hint="Those that are created; empty: any number"
        inputMode="numeric"
        {...text('runsMax')}
      />
      <SelectField
        label="Mode"
        hint={MODES[draft.mode]}
        value={draft.mode}
        options={[
          { value: 'enforced', label: 'Enforced' },
          { value: 'shadow', label: 'Only counted' },
        ]}
        fault={faultOf('mode')}
        onChange={({ target }) => change({ mode: target.value as BudgetDraft['mode'] })}
      />
      <SelectField
        label="Refuse with"
        hint={REFUSALS[draft.refusalStatus]}
        value={String(draft.refusalStatus)}
        options={[
          { value: '429', label: '429 Too Many Requests' },
          { value: '402', label: '402 Payment Required' },
        ]}
        fault={faultOf('refusalStatus')}
        onChange={({ target }) => change({ refusalStatus: target.value === '402' ? 402 : 429 })}
      />
      <Fault error={rest} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" look="first" unavailable={save.isPending ? 'It is being saved' : undefined}>
          {action}
        </Button>
      </div>
    </form>
  );
}
