import { useQuery } from '@tanstack/react-query';
import { Fault } from '../../components/fault.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { assistantsQuery } from '../../platform/assistants.ts';
import type { BudgetsPlace } from '../../platform/budgets.ts';
import { canRun } from '../../platform/deployments.ts';
import { nameOf } from '../assistants/assistant-name.ts';
import { useDeployment } from '../deployment/use-deployment.ts';
import type { BudgetDraft, BudgetField } from './budget-draft.ts';
import { canBeOfOne, subjectOptions } from './budget-subject.ts';

const PERIODS = [
  { value: 'hour', label: 'An hour' },
  { value: 'day', label: 'A day' },
  { value: 'month', label: 'A month' },
];

interface SubjectFieldsProps {
  place: BudgetsPlace;
  draft: BudgetDraft;
  faultOf(field: BudgetField): string | undefined;
  onChange(part: Partial<BudgetDraft>): void;
}

/** The fields that say whose use is counted together, and for how long. */
export function SubjectFields({ place, draft, faultOf, onChange }: SubjectFieldsProps) {
  const { subject, subjectId, period } = draft;
  const field = { value: subjectId, fault: faultOf('subjectId') };
  return (
    <>
      <SelectField
        label="Whose use is counted"
        value={subject}
        options={subjectOptions(place)}
        fault={faultOf('subject') ?? (canBeOfOne(subject) ? undefined : field.fault)}
        // An id is that of an assistant, a creator or a key, and of no other kind.
        onChange={({ target }) => onChange({ subject: target.value as BudgetDraft['subject'], subjectId: '' })}
      />
      {subject === 'assistant' && <AssistantField {...field} onChange={(subjectId) => onChange({ subjectId })} />}
      {(subject === 'creator' || subject === 'key') && (
        <TextField
          label={subject === 'creator' ? 'One creator alone (optional)' : 'One key alone (optional)'}
          hint={
            subject === 'creator'
              ? 'As the project calls a user, or the id of a person or a service account; empty: each has a budget'
              : 'Its id; empty: each has a budget'
          }
          maxLength={255}
          autoComplete="off"
          spellCheck={false}
          {...field}
          onChange={({ target }) => onChange({ subjectId: target.value })}
        />
      )}
      <SelectField
        label="Period"
        hint="In UTC; counting begins anew after it"
        value={period}
        options={PERIODS}
        fault={faultOf('period')}
        onChange={({ target }) => onChange({ period: target.value as BudgetDraft['period'] })}
      />
    </>
  );
}

interface AssistantFieldProps {
  value: string;
  fault: string | undefined;
  onChange(id: string): void;
}

function AssistantField({ value, fault, onChange }: AssistantFieldProps) {
  const { deployment } = useDeployment();
  const assistants = useQuery({
    ...assistantsQuery(deployment.tenant_id, deployment.id),
    enabled: canRun(deployment),
  });
  const known = (assistants.data ?? []).map((each) => ({ value: each.assistant_id, label: nameOf(each) }));
  return (
    <>
      <SelectField
        label="Assistant"
        hint={canRun(deployment) ? undefined : 'The deployment does not serve yet, and has no assistants'}
        value={value}
        options={[{ value: '', label: 'Each, with a budget of this size' }, ...known]}
        fault={fault}
        onChange={({ target }) => onChange(target.value)}
      />
      <Fault error={assistants.error} onRetry={() => void assistants.refetch()} />
    </>
  );
}
