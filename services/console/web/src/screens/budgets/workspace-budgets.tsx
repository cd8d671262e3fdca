import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { missingPermission } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { Section } from '../../components/section.tsx';
import { budgetsQuery } from '../../platform/budgets.ts';
import { useWorkspace } from '../../session/session.ts';
import { budgetSentence } from './budget-sentence.ts';
import { useBudgetNames } from './use-budget-names.ts';

/** The budgets of the workspace as the page of a deployment shows them: all of them are for it too. */
export function WorkspaceBudgets({ workspaceId }: { workspaceId: string }) {
  const { may } = useWorkspace();
  const place = { workspaceId };
  const {
    data: budgets,
    error,
    isLoading,
    refetch,
  } = useQuery({
    ...budgetsQuery(place),
    // Access policies may give somebody this deployment alone.
    enabled: may('deployments:read'),
    refetchInterval: false,
  });
  const { nameOfSubject } = useBudgetNames(place, budgets ?? []);
  const unavailable = missingPermission(may('deployments:read'), 'deployments:read');
  return (
    <Section
      title="Budgets of the workspace"
      about={
        <>
          They cap this deployment too, and are changed on{' '}
          <Link to="/w/$workspaceId/usage/budgets" params={{ workspaceId }}>
            the page of the workspace
          </Link>
          .
        </>
      }
    >
      <Fault error={error} onRetry={() => void refetch()} />
      {isLoading && <Loading what="budgets of the workspace" />}
      {unavailable && <p className="text-faint">{unavailable}</p>}
      {budgets?.length === 0 && <p className="text-faint">The workspace has no budget.</p>}
      {budgets && budgets.length > 0 && (
        <ul aria-label="Budgets of the workspace" className="flex min-w-0 flex-col gap-2">
          {budgets.map((budget) => (
            <li key={budget.id} className="min-w-0 [overflow-wrap:anywhere]">
              <span className="font-semibold">{budget.name}</span>: {budgetSentence(budget, nameOfSubject(budget))}
              {budget.mode === 'shadow' && <span className="text-faint"> (only counted)</span>}
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
