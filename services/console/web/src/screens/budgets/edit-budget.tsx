import type { Budget } from '@runyard/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { type BudgetsPlace, budgetsQuery, patchBudget } from '../../platform/budgets.ts';
import { type BudgetDraft, draftOf, patchOf } from './budget-draft.ts';
import { BudgetForm } from './budget-form.tsx';

interface EditBudgetProps {
  place: BudgetsPlace;
  budget: Budget;
  onClose(): void;
  /** Called with a sentence once it is changed. */
  onDone(sentence: string): void;
}

/** Changes a budget. Only what differs is sent. */
export function EditBudget(props: EditBudgetProps) {
  return (
    <Dialog
      isOpen
      onClose={props.onClose}
      title={`Edit the budget ${props.budget.name}`}
      description="Whose use is counted, and in which period, stays as it is. What was counted stays counted."
    >
      <Form {...props} />
    </Dialog>
  );
}

function Form({ place, budget, onClose, onDone }: EditBudgetProps) {
  const client = useQueryClient();
  // The list may be read again while somebody writes.
  const [edited] = useState(budget);
  const save = async (draft: BudgetDraft) => {
    const patch = patchOf(edited, draft);
    if (Object.keys(patch).length > 0) {
      const { name } = await patchBudget(place, edited.id, patch);
      await client.invalidateQueries(budgetsQuery(place));
      onDone(`The budget ${name} was changed`);
    }
    onClose();
  };
  return (
    <BudgetForm place={place} start={draftOf(edited)} isNew={false} action="Save" onCancel={onClose} onSave={save} />
  );
}
