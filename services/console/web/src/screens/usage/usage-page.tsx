import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Button, buttonClass } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { Page } from '../../components/page.tsx';
import { saveFile } from '../../components/save-file.ts';
import { exportUsage } from '../../platform/usage.ts';
import { UsageChart } from './usage-chart.tsx';
import { fileName, fileRequest, rangeOf, type UsageChoice } from './usage-choice.ts';
import { UsageFilters } from './usage-filters.tsx';
import { UsageTable } from './usage-table.tsx';
import { UsageTabs } from './usage-tabs.tsx';
import { UsageTotals } from './usage-totals.tsx';
import { useNames } from './use-names.ts';
import { useUsage } from './use-usage.ts';

const ROUTE = '/signed-in/w/$workspaceId/usage';

/** Tokens, calls and runs of the workspace: by time, and by who has used them. */
export function UsagePage() {
  const { workspaceId } = useParams({ from: ROUTE });
  const choice = useSearch({ from: ROUTE });
  const navigate = useNavigate({ from: '/w/$workspaceId/usage' });
  const { bars, sums, error, refetch } = useUsage(workspaceId, choice);
  const nameOf = useNames(workspaceId, sums?.groups ?? [], choice.deployment);
  const file = useMutation({
    mutationFn: async () => {
      const now = Date.now();
      saveFile(await exportUsage(workspaceId, fileRequest(choice, now)), fileName(choice, now));
    },
  });
  const change = (choice: UsageChoice) => void navigate({ to: '.', search: choice, replace: true, resetScroll: false });
  const total = bars?.usage.total;
  return (
    <Page
      title="Usage"
      actions={
        <>
          {choice.deployment !== undefined && (
            <Link
              to="/w/$workspaceId/deployments/$deploymentId/budgets"
              params={{ workspaceId, deploymentId: choice.deployment }}
              className={buttonClass()}
            >
              Budgets of the deployment
            </Link>
          )}
          <Button onClick={() => file.mutate()} unavailable={file.isPending ? 'It is being read' : undefined}>
            Download as CSV
          </Button>
        </>
      }
    >
      <UsageTabs workspaceId={workspaceId} />
      <UsageFilters {...{ workspaceId, choice }} onChange={change} />
      <Fault error={file.error} />
      <Fault error={error} onRetry={refetch} />
      {(!bars || !sums) && !error && <Loading what="the usage" />}
      <p role="status" className="sr-only">
        {bars && sums && `${bars.usage.total.total_tokens.toLocaleString('en')} tokens, ${sums.rows.length} rows`}
      </p>
      {total && <UsageTotals total={total} isOfModel={bars.body.models !== undefined} />}
      {bars && sums && bars.usage.total.total_tokens > 0 && (
        <UsageChart
          {...{ workspaceId, choice, nameOf }}
          group={sums.groups[0]!}
          all={{ body: bars.body, rows: bars.usage.rows }}
          table={sums}
        />
      )}
      {total && total.model_calls > 0 && total.total_tokens === 0 && (
        <p className="text-faint">The models that were called have reported no tokens.</p>
      )}
      {sums?.rows.length === 0 && (
        <Empty title="Nothing was used in this time">
          Choose a longer time, or take a filter away. Runs count here a moment after they were made.
        </Empty>
      )}
      {bars && sums && sums.rows.length > 0 && (
        <UsageTable
          {...{ workspaceId, nameOf }}
          groups={sums.groups}
          rows={sums.rows}
          shown={{
            from: bars.body.start_time,
            to: rangeOf(choice) === undefined ? bars.body.end_time : undefined,
            deployment: choice.deployment,
            model: choice.model,
          }}
        />
      )}
      {sums && !sums.isComplete && (
        <p className="text-xs text-faint">
          These are the {sums.rows.length} with the most tokens. The totals and the file have all.
        </p>
      )}
    </Page>
  );
}
