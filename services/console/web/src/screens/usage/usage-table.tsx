import type { UsageRow } from '@runyard/contracts';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Cell, HeadCell, Row, Table } from '../../components/table.tsx';
import { GROUPS, type Group } from './usage-choice.ts';
import { useNames } from './use-names.ts';

const FIGURES = [
  ['runs', 'Runs'],
  ['model_calls', 'Calls of models'],
  ['tool_calls', 'Calls of tools'],
  ['input_tokens', 'Input tokens'],
  ['cache_read_tokens', 'Cached of these'],
  ['output_tokens', 'Output tokens'],
  ['total_tokens', 'All tokens'],
] as const satisfies readonly (readonly [keyof UsageRow, string])[];

/** The rows of usage, the most tokens first. */
export function UsageTable({ workspaceId, by, rows }: { workspaceId: string; by: Group; rows: readonly UsageRow[] }) {
  const name = useNames(workspaceId);
  return (
    <Table
      caption={`Usage by ${GROUPS[by].toLowerCase()}, the most tokens first`}
      columns={[GROUPS[by], ...FIGURES.map(([, label]) => label)]}
    >
      {rows.map((row) => (
        <Row key={JSON.stringify([row.deployment_id, row.assistant_id, row.creator, row.key_id, row.model])}>
          <HeadCell>{titleOf(row, by, { workspaceId, name })}</HeadCell>
          {FIGURES.map(([figure, label]) => (
            <Cell key={figure} label={label}>
              <span className="tabular-nums">{row[figure].toLocaleString('en')}</span>
            </Cell>
          ))}
        </Row>
      ))}
    </Table>
  );
}

function titleOf(
  row: UsageRow,
  by: Group,
  { workspaceId, name }: { workspaceId: string; name: (id: string) => string },
): ReactNode {
  switch (by) {
    case 'model':
      if (!row.model) return 'Runs and tools, which are of no model';
      return (
        <>
          {row.model.model} <span className="text-xs text-faint">{row.model.provider}</span>
        </>
      );
    case 'deployment':
      return (
        <Link to="/w/$workspaceId/runs" params={{ workspaceId }} search={{ deployment: row.deployment_id! }}>
          {name(row.deployment_id!)}
        </Link>
      );
    case 'assistant':
      return (
        <Link to="/w/$workspaceId/runs" params={{ workspaceId }} search={{ assistant: row.assistant_id! }}>
          <code className="text-xs">{row.assistant_id}</code>
        </Link>
      );
    case 'creator':
      if (!row.creator) return 'Not known';
      return (
        <>
          {name(row.creator.identity) || 'Nobody'}{' '}
          <span className="text-xs text-faint">{row.creator.kind.replaceAll('_', ' ')}</span>
        </>
      );
    case 'key':
      return row.key_id ? name(row.key_id) : 'No key';
  }
}
