import type { UsageFigures, UsageRequest } from '@runyard/contracts';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Fault } from '../../components/fault.tsx';
import { SelectField } from '../../components/field.tsx';
import { Loading } from '../../components/loading.tsx';
import { Page } from '../../components/page.tsx';
import { deploymentsQuery } from '../../platform/deployments.ts';
import { exportUsage, usageQuery } from '../../platform/usage.ts';
import { nameOf } from '../deployments/deployment-list.ts';
import { barLabel, type UsageBar, usageBars } from './usage-bars.ts';
import { barsRequest, completed, GROUPS, RANGES, tableRequest, type UsageChoice } from './usage-choice.ts';
import { UsageTable } from './usage-table.tsx';

const ROUTE = '/signed-in/w/$workspaceId/usage';
const HEIGHT = 100;

/** Tokens, calls and runs of the workspace: by time, and by who has used them. */
export function UsagePage() {
  const { workspaceId } = useParams({ from: ROUTE });
  const choice = useSearch({ from: ROUTE });
  const { by } = completed(choice);
  const bars = useQuery({
    ...usageQuery(workspaceId, { bars: choice }, () => barsRequest(choice, Date.now())),
    placeholderData: keepPreviousData,
  });
  const table = useQuery({
    ...usageQuery(workspaceId, { table: choice }, () => tableRequest(choice, Date.now())),
    placeholderData: keepPreviousData,
  });
  const file = useMutation({ mutationFn: () => download(workspaceId, choice) });
  const { usage } = table.data ?? {};
  return (
    <Page title="Usage" actions={<Button onClick={() => file.mutate()}>Download as CSV</Button>}>
      <Choice workspaceId={workspaceId} choice={choice} />
      <Fault error={file.error} />
      <Fault
        error={bars.error ?? table.error}
        onRetry={() => {
          void bars.refetch();
          void table.refetch();
        }}
      />
      {!usage && !table.error && <Loading what="the usage" />}
      {usage && <Totals total={usage.total} />}
      {bars.data && <Chart {...bars.data} />}
      {usage?.rows.length === 0 && (
        <Empty title="Nothing was used in this time">Runs count here a moment after they were made.</Empty>
      )}
      {usage && usage.rows.length > 0 && (
        <>
          <UsageTable workspaceId={workspaceId} by={shownGroup(table.data!.body, by)} rows={usage.rows} />
          {!usage.is_complete && (
            <p className="text-xs text-faint">
              These are the {usage.rows.length} with the most tokens; the file has all.
            </p>
          )}
        </>
      )}
    </Page>
  );
}

/** Returns the group of the rows that are shown, which are those asked for before until the answer to another choice comes. */
function shownGroup({ group_by: groups }: UsageRequest, by: keyof typeof GROUPS): keyof typeof GROUPS {
  return groups?.[0] ?? by;
}

function Choice({ workspaceId, choice }: { workspaceId: string; choice: UsageChoice }) {
  const navigate = useNavigate({ from: '/w/$workspaceId/usage' });
  const { data: deployments = [] } = useQuery(deploymentsQuery(workspaceId));
  const { range, by, deployment } = completed(choice);
  const set = (changed: UsageChoice) => void navigate({ to: '.', search: { ...choice, ...changed }, replace: true });
  return (
    <div className="grid gap-3 sm:grid-cols-3 lg:max-w-3xl">
      <SelectField
        label="Time"
        value={range}
        options={Object.entries(RANGES).map(([value, { label }]) => ({ value, label }))}
        onChange={({ target }) => set({ range: target.value as keyof typeof RANGES })}
      />
      <SelectField
        label="Told apart by"
        value={by}
        options={Object.entries(GROUPS).map(([value, label]) => ({ value, label }))}
        onChange={({ target }) => set({ by: target.value as keyof typeof GROUPS })}
      />
      <SelectField
        label="Deployment"
        value={deployment ?? ''}
        options={[{ value: '', label: 'All' }, ...deployments.map((each) => ({ value: each.id, label: nameOf(each) }))]}
        onChange={({ target: { value } }) => {
          const { deployment: _, ...others } = choice;
          void navigate({ to: '.', search: value === '' ? others : { ...others, deployment: value }, replace: true });
        }}
      />
    </div>
  );
}

function Totals({ total }: { total: UsageFigures }) {
  const figures: [string, number][] = [
    ['Runs', total.runs],
    ['Calls of models', total.model_calls],
    ['Calls of tools', total.tool_calls],
    ['Input tokens', total.input_tokens],
    ['Cached of these', total.cache_read_tokens],
    ['Output tokens', total.output_tokens],
    ['Reasoning of these', total.reasoning_tokens],
    ['All tokens', total.total_tokens],
  ];
  return (
    <dl className="flex flex-wrap gap-x-8 gap-y-2">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt className="text-xs text-faint">{name}</dt>
          <dd className="text-base font-semibold tabular-nums">{value.toLocaleString('en')}</dd>
        </div>
      ))}
    </dl>
  );
}

function Chart({ body, usage }: { body: UsageRequest; usage: { rows: Parameters<typeof usageBars>[0] } }) {
  const bars = usageBars(usage.rows, body, Date.now());
  const highest = bars.reduce((one, other) => (other.tokens > one.tokens ? other : one), bars[0]!);
  if (highest.tokens === 0) return null;
  const describe = (bar: UsageBar) => `${barLabel(bar, body.step)}: ${bar.tokens.toLocaleString('en')} tokens`;
  return (
    <figure className="flex min-w-0 flex-col gap-1">
      <svg
        role="img"
        aria-label={`Tokens by ${body.step}, ${bars.length} bars; the most on ${describe(highest)}`}
        viewBox={`0 0 ${bars.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="h-32 w-full border-b border-line"
      >
        {bars.map((bar, index) => {
          const height = (bar.tokens / highest.tokens) * HEIGHT;
          return (
            <g key={bar.at}>
              <title>{describe(bar)}</title>
              <rect x={index} y={0} width={1} height={HEIGHT} className="fill-transparent hover:fill-raised" />
              <rect
                x={index + 0.1}
                y={HEIGHT - height}
                width={0.8}
                height={height}
                className="pointer-events-none fill-action"
              />
            </g>
          );
        })}
      </svg>
      <figcaption className="flex justify-between text-xs text-faint">
        <span>{barLabel(bars[0]!, body.step)}</span>
        <span>{barLabel(bars.at(-1)!, body.step)}</span>
      </figcaption>
    </figure>
  );
}

/** Saves the usage that is shown, told apart by time too, as a file. */
async function download(workspaceId: string, choice: UsageChoice): Promise<void> {
  const { limit: _, ...request } = barsRequest(choice, Date.now());
  const blob = await exportUsage(workspaceId, { ...request, group_by: [completed(choice).by] });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = `usage-${completed(choice).by}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}
