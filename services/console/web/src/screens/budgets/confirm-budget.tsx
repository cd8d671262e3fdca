import type { Budget } from '@runyard/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { Confirm } from '../../components/dialog.tsx';
import { type BudgetsPlace, budgetsQuery, deleteBudget, patchBudget } from '../../platform/budgets.ts';

/** The question that a person is asked before a budget is enforced, only counts, or is deleted. */
export type BudgetQuestion = 'switch' | 'delete';

interface ConfirmBudgetProps {
  place: BudgetsPlace;
  budget: Budget;
  question: BudgetQuestion;
  onClose(): void;
  /** Called with a sentence once it is done. */
  onDone(sentence: string): void;
}

/** Asks before a budget is enforced, is only counted or is deleted. */
export function ConfirmBudget({ place, budget, question, onClose, onDone }: ConfirmBudgetProps) {
  const client = useQueryClient();
  const { id, name, mode } = budget;
  const confirm = (change: () => Promise<unknown>, sentence: string) => async () => {
    await change();
    await client.invalidateQueries(budgetsQuery(place));
    onDone(sentence);
  };
  if (question === 'delete')
    return (
      <Confirm
        isOpen
        onClose={onClose}
        title={`Delete the budget ${name}?`}
        description="Nothing is capped by it any more. What it has counted goes with it."
        action="Delete"
        isDangerous
        onConfirm={confirm(() => deleteBudget(place, id), `The budget ${name} was deleted`)}
      />
    );
  const isEnforced = mode === 'enforced';
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={isEnforced ? `Only count with the budget ${name}?` : `Enforce the budget ${name}?`}
      description={
        isEnforced
          ? 'Nothing is refused any more: the log of the deployment says what would have happened.'
          : 'Where it is used up, new runs are refused at once, and those under way stop at their next checkpoint.'
      }
      action={isEnforced ? 'Only count' : 'Enforce'}
      isDangerous={!isEnforced}
      onConfirm={confirm(
        () => patchBudget(place, id, { mode: isEnforced ? 'shadow' : 'enforced' }),
        `The budget ${name} is ${isEnforced ? 'only counted' : 'enforced'}`,
      )}
    />
  );
}
