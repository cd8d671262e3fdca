import { toSqlText } from '@runyard/database';
import type pg from 'pg';
import { exhaustedError } from '../budgets/budget-errors.ts';
import { exhausted } from '../budgets/count-tokens.ts';
import { PERIOD_START, TERMS, type TermsRow } from '../budgets/period.ts';
import type { ExhaustedBudget } from '../budgets/types.ts';
import { type CreationRules, createRuns } from './create-runs.ts';
import type { EncodedRun } from './encode-run.ts';
import type { CreatedRun } from './types.ts';

/** A budget that runs of one maker are counted on. */
type ChargeRow = TermsRow & {
  /** Index of the maker. */
  maker: number;
  subject_id: string;
  start: Date;
  tokens: number;
  runs: number;
  /** The cap that several deployments have reached together. */
  exhausted: ExhaustedBudget['measure'] | null;
};

/** The assistant, the creator and the key of runs: those who share them are counted on the same budgets. */
interface Maker {
  assistantId: string;
  creator: string | null;
  keyId: string | null;
}

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
  // Another creation may find budgets in the meantime, which these runs were not looked at by.
  if (!rules.budgets.areRead) return createRuns(client, batch, rules, false);
  const chargesOf = await lockCharges(client, batch);
  if (!chargesOf) return createRuns(client, batch, rules, true);
  const { refusals, reached } = admit(batch, chargesOf);
  const admitted = batch.filter((item) => !refusals.has(item));
  const results = admitted.length > 0 ? await createRuns(client, admitted, rules, true) : [];
  const byItem = new Map(admitted.map((item, index) => [item, results[index]!]));
  await charge(
    client,
    admitted.filter((item) => !(byItem.get(item) instanceof Error)),
    chargesOf,
  );
  rules.budgets.tell(reached);
  return batch.map((item) => refusals.get(item) ?? byItem.get(item)!);
}

type ChargesOf = (item: EncodedRun) => readonly ChargeRow[];

/** Returns the makers of a batch, and the index of each run's own. */
function listMakers(batch: readonly EncodedRun[]): { makers: Maker[]; indexOf: Map<EncodedRun, number> } {
  const text = (value: string | undefined) => (value ? toSqlText(value) : null);
  const known = new Map<string, number>();
  const [makers, indexOf] = [[] as Maker[], new Map<EncodedRun, number>()];
  for (const item of batch) {
    const { assistantId, creator } = item;
    const maker = { assistantId, creator: text(creator?.identity), keyId: text(creator?.keyId) };
    const key = JSON.stringify(maker);
    if (!known.has(key)) known.set(key, makers.push(maker) - 1);
    indexOf.set(item, known.get(key)!);
  }
  return { makers, indexOf };
}

/**
 * Locks what the budgets of the runs have counted, before any thread is locked: two creations at once cannot both take
 * the last run of a budget. Runs without a key are not counted on budgets of keys, and so on. Returns the budgets of
 * each run; undefined when none has any.
 */
async function lockCharges(client: pg.ClientBase, batch: readonly EncodedRun[]): Promise<ChargesOf | undefined> {
  const { makers, indexOf } = listMakers(batch);
  const { rows } = await client.query<ChargeRow>({
    name: 'engine_lock_budgets',
    text: `WITH input AS (
             SELECT * FROM unnest($1::text[], $2::text[], $3::text[])
               WITH ORDINALITY AS i (assistant, creator, key, number)
           ), matching AS (
             SELECT (i.number - 1)::integer AS maker, s.subject_id, ${PERIOD_START} AS start, ${TERMS}
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
           ORDER BY m.maker, m.budget_id`,
    values: [
      makers.map(({ assistantId }) => assistantId),
      makers.map(({ creator }) => creator),
      makers.map(({ keyId }) => keyId),
    ],
  });
  if (rows.length === 0) return undefined;
  const byMaker = makers.map((): ChargeRow[] => []);
  for (const row of rows) byMaker[row.maker]!.push(row);
  return (item) => byMaker[indexOf.get(item)!]!;
}

/**
 * Decides in the order of the batch. A run that is refused later, for another reason, counts here for those behind it:
 * at the edge of a budget they may be refused with it.
 */
function admit(
  batch: readonly EncodedRun[],
  chargesOf: ChargesOf,
): { refusals: Map<EncodedRun, Error>; reached: ExhaustedBudget[] } {
  const refusals = new Map<EncodedRun, Error>();
  const reached = new Map<string, ExhaustedBudget>();
  const taken = new Map<string, number>();
  for (const item of batch) {
    const charges = chargesOf(item);
    const beyond = charges.flatMap((row) =>
      row.is_enforced ? (exceeded(row, taken.get(keyOf(row)) ?? 0) ?? []) : [],
    )[0];
    if (beyond) {
      refusals.set(item, exhaustedError(beyond));
      continue;
    }
    for (const row of charges) {
      const count = (taken.get(keyOf(row)) ?? 0) + 1;
      taken.set(keyOf(row), count);
      if (row.runs_max !== null && row.runs + count === row.runs_max)
        reached.set(keyOf(row), exhausted(row, 'runs', row.runs_max));
    }
  }
  return { refusals, reached: [...reached.values()] };
}

function keyOf({ budget_id: budgetId, subject_id: subjectId }: ChargeRow): string {
  return `${budgetId} ${subjectId}`;
}

function exceeded(row: ChargeRow, taken: number): ExhaustedBudget | undefined {
  if (row.tokens_max !== null && row.tokens >= row.tokens_max) return exhausted(row, 'tokens', row.tokens_max);
  if (row.runs_max !== null && row.runs + taken >= row.runs_max) return exhausted(row, 'runs', row.runs_max);
  if (row.exhausted === null) return undefined;
  const max = row.exhausted === 'tokens' ? row.tokens_max : row.runs_max;
  // A cap that was removed since holds nobody up.
  return max === null ? undefined : exhausted(row, row.exhausted, max);
}

/** Counts created runs, and notes on which budgets their tokens are counted. */
async function charge(client: pg.ClientBase, created: readonly EncodedRun[], chargesOf: ChargesOf): Promise<void> {
  const charges = created.flatMap(({ runId }, index) =>
    chargesOf(created[index]!).map(({ budget_id, start, subject_id }) => ({ runId, budget_id, start, subject_id })),
  );
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
      charges.map(({ runId }) => runId),
      charges.map(({ budget_id }) => budget_id),
      charges.map(({ start }) => start),
      charges.map(({ subject_id }) => subject_id),
    ],
  });
}
