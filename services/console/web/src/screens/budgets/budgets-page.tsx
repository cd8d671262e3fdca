import { useParams } from '@tanstack/react-router';
import { Page } from '../../components/page.tsx';
import { UsageTabs } from '../usage/usage-tabs.tsx';
import { BudgetList } from './budget-list.tsx';

const ROUTE = '/signed-in/w/$workspaceId/usage/budgets';

/** The budgets of a workspace, which cap what all its deployments use. */
export function BudgetsPage() {
  const { workspaceId } = useParams({ from: ROUTE });
  return (
    <Page title="Usage">
      <UsageTabs workspaceId={workspaceId} />
      <BudgetList place={{ workspaceId }} />
    </Page>
  );
}
