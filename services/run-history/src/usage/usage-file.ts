import { USAGE_FILE_ROWS_MAX, type UsageFileRequest, type UsageGroup, type UsageRow } from '@runyard/contracts';
import { InvalidFieldError } from '@runyard/service-kit';
import type pg from 'pg';
import type { RunScope } from '../access/visible-deployments.ts';
import { readUsage } from './read-usage.ts';
import { USED } from './usage-changes.ts';

type Cells = Record<string, string | number | null | undefined>;

const GROUP_CELLS: Record<UsageGroup, (row: UsageRow) => Cells> = {
  deployment: ({ deployment_id }) => ({ deployment_id }),
  assistant: ({ assistant_id }) => ({ assistant_id }),
  creator: ({ creator }) => ({ creator_kind: creator?.kind, creator: creator?.identity }),
  key: ({ key_id }) => ({ key_id }),
  model: ({ model }) => ({ provider: model?.provider, model: model?.model }),
};
const FIGURES = [...USED, 'total_tokens'] as const;

/** Writes usage as comma-separated values. @throws InvalidFieldError also when there are too many rows for a file */
export async function writeUsageFile(pool: pg.Pool, scope: RunScope, request: UsageFileRequest): Promise<string> {
  const { rows, is_complete } = await readUsage(pool, scope, request, USAGE_FILE_ROWS_MAX);
  if (!is_complete) {
    const told = `More than ${USAGE_FILE_ROWS_MAX} rows: choose a later start_time, an earlier end_time, or fewer groups`;
    throw new InvalidFieldError(['body', 'start_time'], told);
  }
  return toCsv(rows, request);
}

/** Returns RFC 4180 with a head. */
function toCsv(rows: readonly UsageRow[], { step, group_by = [] }: Pick<UsageFileRequest, 'step' | 'group_by'>) {
  const cellsOf = (row: UsageRow): Cells => ({
    ...(step !== 'all' && { time: row.time }),
    ...Object.assign({}, ...group_by.map((group) => GROUP_CELLS[group](row))),
    ...Object.fromEntries(FIGURES.map((each) => [each, row[each]])),
  });
  const names = Object.keys(cellsOf({} as UsageRow));
  const lines = rows.map((row) => {
    const cells = cellsOf(row);
    return names.map((name) => quote(cells[name])).join(',');
  });
  return [names.join(','), ...lines, ''].join('\r\n');
}

/** Names come from projects: no spreadsheet may take one for a formula. */
function quote(value: Cells[string]): string {
  if (typeof value === 'number') return String(value);
  const text = value ?? '';
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
