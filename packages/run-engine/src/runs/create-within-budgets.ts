import { toSqlText } from '@runyard/database';
import type pg from 'pg';
import { exhaustedError } from '../budgets/budget-errors.ts';
import { exhausted } from '../budgets/count-tokens.ts';
import { PERIOD_START, TERMS, type TermsRow } from '../budgets/period.ts';
import type { ExhaustedBudget } from '../budgets/types.ts';
import { type CreationRules, createRuns } from './create-runs.ts';
import type { EncodedRun } from './encode-run.ts';
import type { CreatedRun } from './types.ts';

/** A budget that one run of the batch is counted on. */
type ChargeRow = TermsRow & {
  /** Index of the run in the batch. */
  position: number;
  subject_id: string;
  start: Date;
  tokens: number;
  runs: number;
  /** The cap that several deployments have reached together. */
  exhausted: ExhaustedBudget['measure'] | null;
};

/** Longer ids of the project's own users are cut, as the journal cuts them. */
const SUBJECT_ID_MAX = 255;

/**
 * Like `createRuns`, where budgets allow it: a run that is beyond one gets an error in its place. Where there is no
 * budget it sends no statement of its own.
 */
export async function createRunsWithinBudgets(
  client: pg.ClientBase,
  batch: EncodedRun[],
  rules: CreationRules,
): Promise<(CreatedRun | Error)[]> {
  if (!rules.budgets.areRead) return createRuns(client, batch, rules);
  const charges = await lockCharges(client, batch);
  if (charges.length === 0) return createRuns(client, batch, rules);
  const { refusals, reached } = admit(charges);
  const admitted = batch.filter((_, index) => !refusals.has(index));
  const results = admitted.length > 0 ? await createRuns(client, admitted, rules) : [];
  const byItem = new Map(admitted.map((item, index) => [item, results[index]!]));
  const isCreated = ({ position }: ChargeRow) => !((byItem.get(batch[position]!) ?? NOT_CREATED) instanceof Error);
  await charge(client, batch, charges.filter(isCreated));
  rules.budgets.tell(reached);
  return batch.map((item, index) => refusals.get(index) ?? byItem.get(item)!);
}

const NOT_CREATED = new Error('not created');

/**
 * Locks what the budgets of the runs have counted, before any thread is locked: two creations at once cannot both take
 * the last run of a budget. Runs without a key are not counted on budgets of keys, and so on.
 */
async function lockCharges(client: pg.ClientBase, batch: EncodedRun[]): Promise<ChargeRow[]> {
  const text = (value: string | undefined) => (value ? toSqlText(value) : null);
  const { rows } = await client.query<ChargeRow>({
    name: 'engine_lock_budgets',
    text: `WITH input AS (
             SELECT * FROM unnest($1::text[], $2::text[], $3::text[])
               WITH ORDINALITY AS i (assistant, creator, key, number)
           ), matching AS (
             SELECT (i.number - 1)::integer AS position, s.subject_id, ${PERIOD_START} AS start, ${TERMS}
             FROM input i CROSS JOIN budget b CROSS JOIN LATERAL (
               SELECT left(CASE b.subject WHEN 'workspace' THEN '' WHEN 'deployment' THEN '' WHEN 'assistant' THEN i.assistant
                                          WHEN 'creator' THEN i.creator WHEN 'key' THEN i.key END,
                           ${SUBJECT_ID_MAX}) AS subject_id
             ) s
             WHERE s.subject_id IS NOT NULL AND (b.subject_id IS NULL OR b.subject_id = s.subject_id)
           ), locked AS (
             INSERT INTO budget_use AS u (budget_id, start, subject_id)
             SELECT DISTINCT budget_id, start, subject_id FROM matching ORDER BY 1, 2, 3
             ON CONFLICT (budget_id, start, subject_id) DO UPDATE SET runs = u.runs
             RETURNING budget_id, start, subject_id, tokens, runs, exhausted
           )
           SELECT m.*, l.tokens::float8, l.runs::float8, l.exhausted
           FROM matching m JOIN locked l USING (budget_id, start, subject_id)
           ORDER BY m.position, m.budget_id`,
    values: [
      batch.map(({ assistantId }) => assistantId),
      batch.map(({ creator }) => text(creator?.identity)),
      batch.map(({ creator }) => text(creator?.keyId)),
    ],
  });
  return rows;
}

/**
 * Decides in the order of the batch. A run that is refused later, for another reason, counts here for those behind it:
 * at the edge of a budget they may be refused with it.
 */
function admit(charges: readonly ChargeRow[]): { refusals: Map<number, Error>; reached: ExhaustedBudget[] } {
  const refusals = new Map<number, Error>();
  const reached = new Map<string, ExhaustedBudget>();
  const taken = new Map<string, number>();
  const keyOf = ({ budget_id, subject_id }: ChargeRow) => `${budget_id} ${subject_id}`;
  for (const ofRun of byPosition(charges)) {
    const beyond = ofRun.flatMap((row) => (row.is_enforced ? (exceeded(row, taken.get(keyOf(row)) ?? 0) ?? []) : []));
    if (beyond[0]) {
      refusals.set(ofRun[0]!.position, exhaustedError(beyond[0]));
      continue;
    }
    for (const row of ofRun) {
      const count = (taken.get(keyOf(row)) ?? 0) + 1;
      taken.set(keyOf(row), count);
      if (row.runs_max !== null && row.runs + count === row.runs_max)
        reached.set(keyOf(row), exhausted(row, 'runs', row.runs_max));
    }
  }
  return { refusals, reached: [...reached.values()] };
}

function exceeded(row: ChargeRow, taken: number): ExhaustedBudget | undefined {
  if (row.tokens_max !== null && row.tokens >= row.tokens_max) return exhausted(row, 'tokens', row.tokens_max);
  if (row.runs_max !== null && row.runs + taken >= row.runs_max) return exhausted(row, 'runs', row.runs_max);
  if (row.exhausted === null) return undefined;
  const max = row.exhausted === 'tokens' ? row.tokens_max : row.runs_max;
  // A cap that was removed since holds nobody up.
  return max === null ? undefined : exhausted(row, row.exhausted, max);
}

function byPosition(charges: readonly ChargeRow[]): ChargeRow[][] {
  const runs = new Map<number, ChargeRow[]>();
  for (const row of charges) runs.set(row.position, [...(runs.get(row.position) ?? []), row]);
  return [...runs.values()];
}

/** Counts created runs, and notes on which budgets their tokens are counted. */
async function charge(client: pg.ClientBase, batch: EncodedRun[], charges: readonly ChargeRow[]): Promise<void> {
  if (charges.length === 0) return;
  await client.query({
    name: 'engine_charge_budgets',
    text: `WITH charged AS (
             SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[])
               AS c (run_id, budget_id, start, subject_id)
           ), members AS (
             INSERT INTO run_budget (run_id, budget_id, subject_id) SELECT run_id, budget_id, subject_id FROM charged
           )
           UPDATE budget_use u SET runs = u.runs + c.runs
           FROM (SELECT budget_id, start, subject_id, count(*) AS runs FROM charged GROUP BY 1, 2, 3) c
           WHERE (u.budget_id, u.start, u.subject_id) = (c.budget_id, c.start, c.subject_id)`,
    values: [
      charges.map(({ position }) => batch[position]!.runId),
      charges.map(({ budget_id }) => budget_id),
      charges.map(({ start }) => start),
      charges.map(({ subject_id }) => subject_id),
    ],
  });
}
