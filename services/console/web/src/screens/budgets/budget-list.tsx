import type { Budget } from '@runyard/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { Section } from '../../components/section.tsx';
import { type BudgetsPlace, budgetsQuery } from '../../platform/budgets.ts';
import { useWorkspace } from '../../session/session.ts';
import { AboutBudgets, NoBudgets } from './about-budgets.tsx';
import { BudgetCard } from './budget-card.tsx';
import { budgetSentence } from './budget-sentence.ts';
import { type BudgetQuestion, ConfirmBudget } from './confirm-budget.tsx';
import { CreateBudget } from './create-budget.tsx';
import { EditBudget } from './edit-budget.tsx';
import { useBudgetNames } from './use-budget-names.ts';
import { useBudgetUse } from './use-budget-use.ts';
import { UsedPart } from './used-part.tsx';

type Opened = { dialog: 'create' } | { dialog: 'edit' | BudgetQuestion; budget: Budget };

/** The budgets of a deployment or of the workspace, the oldest first, and how much of each is used. */
export function BudgetList({ place }: { place: BudgetsPlace }) {
  const { may } = useWorkspace();
  const [opened, setOpened] = useState<Opened>();
  const [said, setSaid] = useState('');
  const { data: budgets, error, isPending, refetch } = useQuery(budgetsQuery(place));
  const used = useBudgetUse(place.workspaceId, budgets ?? []);
  const { nameOf, nameOfSubject } = useBudgetNames(place, budgets ?? []);
  const close = () => setOpened(undefined);
  return (
    <Section
      title="Budgets"
      about={<AboutBudgets place={place} />}
      actions={
        <Button
          look="first"
          unavailable={missingPermission(may('deployments:update'), 'deployments:update')}
          onClick={() => setOpened({ dialog: 'create' })}
        >
          New budget
        </Button>
      }
    >
      <Fault error={error} onRetry={() => void refetch()} />
      <Fault error={used.error} onRetry={used.retry} />
      <p role="status" className="text-xs text-faint">
        {said || (budgets && `${budgets.length} ${budgets.length === 1 ? 'budget' : 'budgets'}`)}
      </p>
      {isPending && <Loading what="budgets" />}
      {budgets?.length === 0 && <NoBudgets place={place} />}
      {budgets?.map((budget) => {
        const usage = used.usageOf(budget);
        return (
          <BudgetCard
            key={budget.id}
            budget={budget}
            allows={budgetSentence(budget, nameOfSubject(budget))}
            moment={used.hour}
            onEdit={() => setOpened({ dialog: 'edit', budget })}
            onSwitch={() => setOpened({ dialog: 'switch', budget })}
            onDelete={() => setOpened({ dialog: 'delete', budget })}
          >
            {usage ? (
              <UsedPart {...{ budget, usage, nameOf }} />
            ) : (
              <p className="text-faint">{missingPermission(may('runs:read'), 'runs:read') ?? 'Not known yet'}</p>
            )}
          </BudgetCard>
        );
      })}
      <CreateBudget isOpen={opened?.dialog === 'create'} onClose={close} place={place} onDone={setSaid} />
      {opened?.dialog === 'edit' && (
        <EditBudget place={place} budget={opened.budget} onClose={close} onDone={setSaid} />
      )}
      {(opened?.dialog === 'switch' || opened?.dialog === 'delete') && (
        <ConfirmBudget place={place} question={opened.dialog} budget={opened.budget} onClose={close} onDone={setSaid} />
      )}
    </Section>
  );
}
