import { useQueryClient } from '@tanstack/react-query';
import { Dialog } from '../../components/dialog.tsx';
import { useRequest } from '../../components/use-action.ts';
import { type BudgetsPlace, budgetsQuery, createBudget } from '../../platform/budgets.ts';
import { type BudgetDraft, creationOf, EMPTY } from './budget-draft.ts';
import { BudgetForm } from './budget-form.tsx';

interface CreateBudgetProps {
  isOpen: boolean;
  onClose(): void;
  place: BudgetsPlace;
  /** Called with a sentence once it is made. */
  onDone(sentence: string): void;
}

/** Makes a budget. */
export function CreateBudget({ isOpen, onClose, ...rest }: CreateBudgetProps) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="New budget"
      description="It caps tokens, runs or both in an hour, a day or a month."
    >
      <Form {...rest} onClose={onClose} />
    </Dialog>
  );
}

function Form({ place, onDone, onClose }: Omit<CreateBudgetProps, 'isOpen'>) {
  const client = useQueryClient();
  const requestFor = useRequest<ReturnType<typeof creationOf>>();
  const save = async (draft: BudgetDraft) => {
    const { body, key } = requestFor(draft, () => creationOf(draft));
    const { name } = await createBudget(place, body, key);
    await client.invalidateQueries(budgetsQuery(place));
    onDone(`The budget ${name} was made`);
    onClose();
  };
  return <BudgetForm place={place} start={EMPTY} isNew action="Create" onCancel={onClose} onSave={save} />;
}
