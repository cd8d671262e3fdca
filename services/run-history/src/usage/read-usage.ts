import type { Usage, UsageFigures, UsageFileRequest, UsageGroup, UsageRow } from '@runyard/contracts';
import type pg from 'pg';
import type { RunScope } from '../access/visible-deployments.ts';
import { readSelectedTime, selectSums } from '../sums/selection.ts';
import { USED, type UsageStep, type Used } from './usage-changes.ts';

type Step = UsageFileRequest['step'];
type Values = Record<string, string>;

/** The columns of each field that usage is told apart by, and how a row shows them. */
const GROUPS: Record<UsageGroup, { columns: string[]; show(values: Values): Partial<UsageRow> }> = {
  deployment: { columns: ['deployment_id'], show: ({ deployment_id }) => ({ deployment_id: deployment_id! }) },
  assistant: { columns: ['assistant_id'], show: ({ assistant_id }) => ({ assistant_id: assistant_id! }) },
  creator: {
    columns: ['creator_kind', 'creator'],
    show: ({ creator_kind: kind, creator: identity }) => ({ creator: kind ? { kind, identity: identity! } : null }),
  },
  key: { columns: ['key_id'], show: ({ key_id }) => ({ key_id: key_id || null }) },
  model: {
    columns: ['provider', 'model'],
    show: ({ provider, model }) => ({ model: model ? { provider: provider!, model } : null }),
  },
};

/** The rows in the database that a step is summed up from, and the time of each sum; none for the whole time. */
const STEPS: Record<Step, { of: UsageStep; time?: string }> = {
  hour: { of: 'hour', time: 'start' },
  day: { of: 'day', time: 'start' },
  month: { of: 'day', time: `date_trunc('month', start, 'UTC')` },
  all: { of: 'day' },
};

const SUMS = USED.map((each) => `sum(${each})::float8 AS ${each}`).join(', ');
const TOKENS = 'sum(input_tokens + output_tokens)';

/** Reads who has used what. @throws InvalidFieldError for a time that is none, or ends before it begins */
export async function readUsage(
  pool: pg.Pool,
  scope: RunScope,
  request: UsageFileRequest,
  limit: number,
): Promise<Usage> {
  const { of, time } = STEPS[request.step];
  const { values, condition } = selectSums(scope, readSelectedTime(request, of), [
    ['deployment_id', 'uuid', request.deployment_ids],
    ['assistant_id', 'uuid', request.assistant_ids],
    ['creator', 'text', request.creators],
    ['key_id', 'text', request.key_ids],
    ['model', 'text', request.models],
  ]);
  const groups = (request.group_by ?? []).map((group) => GROUPS[group]);
  const columns = groups.flatMap((group) => group.columns);
  const keys = [...(time ? [time] : []), ...columns];
  const { rows } = await pool.query<Values & Record<Used, number> & { time: string | null }>(
    `SELECT ${[time ? `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS time` : 'NULL AS time', ...columns, SUMS].join(', ')} FROM usage
     WHERE ${condition} ${keys.length > 0 ? `GROUP BY ${keys.join(', ')}` : 'HAVING count(*) > 0'}
     ORDER BY ${[...(time ? [time] : []), `${TOKENS} DESC`, 'sum(runs) DESC', ...columns].join(', ')}
     LIMIT ${limit + 1}`,
    values,
  );
  const { rows: totals } = await pool.query<Record<Used, number | null>>(
    `SELECT ${SUMS} FROM usage WHERE ${condition}`,
    values,
  );
  return {
    rows: rows.slice(0, limit).map((row) => ({
      time: row.time,
      ...Object.assign({}, ...groups.map((group) => group.show(row))),
      ...figuresOf(row),
    })),
    total: figuresOf(totals[0]!),
    is_complete: rows.length <= limit,
  };
}

function figuresOf(row: Record<Used, number | null>): UsageFigures {
  const used = Object.fromEntries(USED.map((each) => [each, row[each] ?? 0])) as Record<Used, number>;
  return { ...used, total_tokens: used.input_tokens + used.output_tokens };
}
