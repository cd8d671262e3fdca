import { Link } from '@tanstack/react-router';
import { Empty } from '../../components/empty.tsx';
import type { BudgetsPlace } from '../../platform/budgets.ts';

/** The sentences above the budgets of a place. */
export function AboutBudgets({ place: { workspaceId, deploymentId } }: { place: BudgetsPlace }) {
  const isOfWorkspace = deploymentId === undefined;
  return (
    <>
      {isOfWorkspace && 'They cap what all deployments of the workspace use. '}
      What is used is read from the journal of runs, as{' '}
      <Link
        to="/w/$workspaceId/usage"
        params={{ workspaceId }}
        search={{ range: 'month', by: 'creator', ...(!isOfWorkspace && { deployment: deploymentId }) }}
      >
        usage
      </Link>{' '}
      is: of the whole period, a moment late. A budget itself counts from when it was made
      {isOfWorkspace && ', and each deployment hears a moment late what the others have used'}.
    </>
  );
}

/** Says what a budget is for, in place of the list where there is none yet. */
export function NoBudgets({ place: { deploymentId } }: { place: BudgetsPlace }) {
  return (
    <Empty title="There is no budget yet">
      {deploymentId === undefined
        ? 'A budget of the workspace caps the tokens or runs of all its deployments, or of each who uses them.'
        : 'A budget caps the tokens or runs of the deployment, or of each who uses it, outside of the agent’s code.'}
    </Empty>
  );
}
