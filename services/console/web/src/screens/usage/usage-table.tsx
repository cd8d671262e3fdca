import type { UsageFigures, UsageGroup, UsageRow } from '@runyard/contracts';
import { Link } from '@tanstack/react-router';
import { Cell, HeadCell, Row, Table } from '../../components/table.tsx';
import { GROUPS } from './usage-choice.ts';
import { keyOf, runsOfRow } from './usage-rows.ts';
import type { UsageName } from './use-names.ts';

const OF_RUNS = [
  ['runs', 'Runs'],
  ['tool_calls', 'Tool calls'],
] as const satisfies readonly (readonly [keyof UsageFigures, string])[];
const OF_MODELS = [
  ['model_calls', 'Model calls'],
  ['input_tokens', 'Input tokens'],
  ['cache_read_tokens', 'Cached'],
  ['output_tokens', 'Output tokens'],
  ['reasoning_tokens', 'Reasoning'],
  ['total_tokens', 'All tokens'],
] as const satisfies readonly (readonly [keyof UsageFigures, string])[];

interface UsageTableProps {
  workspaceId: string;
  groups: readonly UsageGroup[];
  rows: readonly UsageRow[];
  nameOf: (row: UsageRow, group: UsageGroup) => UsageName;
  /** The usage that is shown, for links to its runs. */
  shown: Parameters<typeof runsOfRow>[2] & { model: string | undefined };
}

/** The sums of usage, each with a link to its runs. */
export function UsageTable({ workspaceId, groups, rows, nameOf, shown }: UsageTableProps) {
  const isByModel = groups.includes('model');
  // Runs and calls of tools are of no model, and there are none of them where one model is shown.
  const figures = shown.model === undefined ? [...OF_RUNS, ...OF_MODELS] : OF_MODELS;
  const textOf = (row: UsageRow, figure: keyof UsageFigures) => {
    const isOfRuns = OF_RUNS.some(([name]) => name === figure);
    return isByModel && isOfRuns === (row.model !== null) ? '–' : row[figure].toLocaleString('en');
  };
  return (
    <Table
      caption={`Usage by ${groups.map((group) => GROUPS[group].toLowerCase()).join(' and ')}, the most tokens first`}
      columns={[...groups.map((group) => GROUPS[group]), ...figures.map(([, label]) => label)]}
    >
      {rows.map((row) => {
        const [first, second] = groups;
        const runs = runsOfRow(row, groups, shown);
        const name = <Name {...nameOf(row, first!)} />;
        return (
          <Row key={keyOf(row, groups)}>
            <HeadCell>
              {runs ? (
                <Link to="/w/$workspaceId/runs" params={{ workspaceId }} search={runs} title="Show the runs">
                  {name}
                </Link>
              ) : (
                name
              )}
            </HeadCell>
            {second && (
              <Cell label={GROUPS[second]}>
                <Name {...nameOf(row, second)} />
              </Cell>
            )}
            {figures.map(([figure, label]) => (
              <Cell key={figure} label={label}>
                <span className="whitespace-nowrap tabular-nums">{textOf(row, figure)}</span>
              </Cell>
            ))}
          </Row>
        );
      })}
    </Table>
  );
}

function Name({ name, detail, isId }: UsageName) {
  return (
    <>
      {isId ? <code className="text-xs">{name}</code> : name}
      {detail && <span className="text-xs text-faint"> {detail}</span>}
    </>
  );
}
