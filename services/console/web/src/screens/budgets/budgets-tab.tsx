import { useParams } from '@tanstack/react-router';
import { BudgetList } from './budget-list.tsx';
import { WorkspaceBudgets } from './workspace-budgets.tsx';

const ROUTE = '/signed-in/w/$workspaceId/deployments/$deploymentId/budgets';

/** The budgets of a deployment, and below them those of its workspace, which cap it too. */
export function BudgetsTab() {
  const place = useParams({ from: ROUTE });
  return (
    <>
      <BudgetList place={place} />
      <WorkspaceBudgets workspaceId={place.workspaceId} />
    </>
  );
}
