import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ExhaustedBudget } from '../src/index.ts';
import { aRun, type EngineFixture, openEngine, success } from './engine-fixture.ts';

let fixture: EngineFixture;
let told: ExhaustedBudget[] = [];
beforeAll(async () => {
  fixture = await openEngine({ onBudgetExhausted: (budget) => told.push(budget) });
});
afterAll(() => fixture.close());
beforeEach(async () => {
  await fixture.rows(
    'TRUNCATE run, thread, thread_fence, outbox, cron, assistant, budget, budget_use, run_budget CASCADE',
  );
  told = [];
});

interface Terms {
  subject?: 'workspace' | 'deployment' | 'assistant' | 'creator' | 'key';
  subjectId?: string;
  period?: 'hour' | 'day' | 'month';
  tokensMax?: number;
  runsMax?: number;
  isEnforced?: boolean;
  refusalStatus?: 402 | 429;
}

/** Sets a budget as the data plane does. */
async function budget(terms: Terms): Promise<string> {
  const { subject = 'deployment', subjectId, period = 'month', tokensMax, runsMax, isEnforced = true } = terms;
  const values = [randomUUID(), subject, subjectId, period, tokensMax, runsMax, isEnforced, terms.refusalStatus ?? 429];
  await fixture.rows("INSERT INTO budget VALUES ($1, 'ours', $2, $3, $4, $5, $6, $7, $8)", values);
  return String(values[0]);
}

const by = (identity: string, keyId?: string) => ({ creator: { kind: 'service_key', identity, keyId } });
const create = (run = {}) => fixture.engine.createRun(aRun(run));
const refusal = {
  status: 429,
  code: 'budget_exhausted_for_now',
  message: expect.stringContaining('"ours" is used up'),
};

/** Reports what a run has used since the last time. */
const use = ({ runId, threadId, assistantId, attempt }: Claimed, tokens: number) =>
  fixture.engine.recordUsage({ runId, threadId, assistantId, attempt, tokens, usage: { models: [], tools: [] } });
type Claimed = Awaited<ReturnType<EngineFixture['engine']['claimRuns']>>[number];

async function claim(count = 1): Promise<Claimed[]> {
  return fixture.engine.claimRuns(await fixture.worker(), count);
}

describe('a budget of runs', () => {
  it('lets exactly so many be created, in whatever requests, from its first moment on', async () => {
    await create();
    await budget({ runsMax: 5 });
    const results = await Promise.allSettled(Array.from({ length: 12 }, () => create()));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject(refusal);
    await expect(fixture.engine.createRunsTogether([aRun(), aRun()])).rejects.toMatchObject(refusal);
    expect(await fixture.rows('SELECT runs::int FROM budget_use')).toEqual([{ runs: 5 }]);
    expect(told).toMatchObject([{ measure: 'runs', max: 5, isEnforced: true }]);
  });

  it('leaves nothing of a run that it refuses: no thread, no cancelled run, no count', async () => {
    const threadId = await fixture.thread();
    await budget({ runsMax: 1 });
    const { run } = await create({ threadId });
    await expect(create({ threadId, multitaskStrategy: 'rollback' })).rejects.toMatchObject(refusal);
    await expect(create({ threadId: randomUUID(), ifThreadMissing: 'create' })).rejects.toMatchObject(refusal);
    expect(await fixture.rows('SELECT run_id, status FROM run')).toEqual([{ run_id: run.runId, status: 'pending' }]);
    expect(await fixture.rows('SELECT thread_id FROM thread')).toEqual([{ thread_id: threadId }]);
  });

  it('does not count runs that are refused for other reasons', async () => {
    const threadId = await fixture.thread();
    await budget({ runsMax: 2 });
    await create({ threadId });
    for (const _ of [1, 2, 3])
      await expect(create({ threadId, multitaskStrategy: 'reject' })).rejects.toMatchObject({ status: 409 });
    await create();
    await expect(create()).rejects.toMatchObject(refusal);
  });

  it('is counted for each assistant, creator or key separately, or for one of them alone', async () => {
    await budget({ subject: 'creator', runsMax: 1 });
    await budget({ subject: 'key', subjectId: 'k1', runsMax: 2 });
    await create(by('ada'));
    await expect(create(by('ada'))).rejects.toMatchObject(refusal);
    await create(by('bob', 'k1'));
    await create(by('cleo', 'k1'));
    await expect(create(by('dora', 'k1'))).rejects.toMatchObject(refusal);
    await create(by('dora', 'k2'));
    // Nobody made these.
    await create();
    await create();
    const [one, other] = [randomUUID(), randomUUID()];
    await budget({ subject: 'assistant', runsMax: 1 });
    await create({ assistantId: one });
    await expect(create({ assistantId: one })).rejects.toMatchObject(refusal);
    await create({ assistantId: other });
  });

  it('takes the id of an end user of any length and any characters', async () => {
    await budget({ subject: 'creator', runsMax: 1 });
    const strange = `\u0000${'ü'.repeat(10_000)}`;
    await create(by(strange));
    await expect(create(by(strange))).rejects.toMatchObject(refusal);
  });

  it('refuses with the status that it names, and says when to come again', async () => {
    await budget({ runsMax: 1, refusalStatus: 402, period: 'hour' });
    await create();
    const ends = new Date();
    ends.setUTCHours(ends.getUTCHours() + 1, 0, 0, 0);
    const message = `The budget "ours" is used up: 1 run an hour. It begins anew at ${ends.toISOString()}`;
    await expect(create()).rejects.toMatchObject({ status: 402, code: 'budget_exhausted', message });
    await fixture.rows('UPDATE budget SET refusal_status = 429');
    const seconds = Math.ceil((ends.getTime() - Date.now()) / 1_000);
    const refused = await create().catch((error: { headers: Record<string, string> }) => error);
    expect(
      Math.abs(Number((refused as { headers: Record<string, string> }).headers['retry-after']) - seconds),
    ).toBeLessThan(5);
  });

  it('begins anew with the next period, and once it is raised or removed', async () => {
    const id = await budget({ runsMax: 1, period: 'day' });
    await create();
    await expect(create()).rejects.toMatchObject(refusal);
    await fixture.rows("UPDATE budget_use SET start = start - interval '1 day'");
    await create();
    await expect(create()).rejects.toMatchObject(refusal);
    await fixture.rows('UPDATE budget SET runs_max = 2');
    await create();
    await expect(create()).rejects.toMatchObject(refusal);
    await fixture.rows('DELETE FROM budget WHERE budget_id = $1', [id]);
    await create();
  });

  it('only counts in shadow, and is told once when it would refuse', async () => {
    await budget({ runsMax: 2, isEnforced: false });
    for (const _ of [1, 2, 3, 4]) await create();
    expect(told).toMatchObject([{ measure: 'runs', max: 2, isEnforced: false }]);
    expect(await claim(4)).toMatchObject(Array(4).fill({ budgets: 'shadow' }));
  });

  it('lets a cron skip the slots for which nothing is left', async () => {
    const [assistantId, cronId] = [randomUUID(), randomUUID()];
    await fixture.rows("INSERT INTO assistant (assistant_id, graph_id, name) VALUES ($1, 'agent', 'A')", [assistantId]);
    await fixture.rows(
      `INSERT INTO cron (cron_id, assistant_id, schedule, payload, next_run_date)
       VALUES ($1, $2, '0 0 1 1 *', '{}', now() - interval '1 second')`,
      [cronId, assistantId],
    );
    await budget({ subject: 'assistant', runsMax: 1 });
    await create({ assistantId });
    const [slot] = await fixture.engine.crons.fire({ graphIds: ['agent'], toRun: () => aRun({ assistantId }) });
    expect(slot).toMatchObject({ cronId, refusal });
    expect(await fixture.rows('SELECT next_run_date > now() AS is_next FROM cron')).toEqual([{ is_next: true }]);
  });
});

describe('a budget of tokens', () => {
  it('stops the run that uses it up, refuses new ones, and lets none begin that waits', async () => {
    await budget({ tokensMax: 100 });
    await create();
    await create();
    const [run, waiting] = await claim(2);
    expect(run).toMatchObject({ budgets: 'enforced' });
    expect(await use(run!, 60)).toBeUndefined();
    expect(told).toEqual([]);
    expect(await fixture.engine.findExhaustedBudget(waiting!.runId)).toBeUndefined();
    expect(await use(run!, 60)).toMatchObject({ name: 'ours', measure: 'tokens', max: 100 });
    expect(await use(run!, 5)).toMatchObject({ name: 'ours' });
    expect(told).toMatchObject([{ measure: 'tokens', max: 100, subjectId: '' }]);
    expect(await fixture.engine.findExhaustedBudget(waiting!.runId)).toMatchObject({ name: 'ours' });
    await expect(create()).rejects.toMatchObject(refusal);
    await fixture.rows('UPDATE budget SET tokens_max = 1000');
    expect(await use(run!, 5)).toBeUndefined();
    await create();
  });

  it('sums up what runs use at the same time', async () => {
    await budget({ tokensMax: 1_000 });
    for (let count = 0; count < 10; count += 1) await create();
    const runs = await claim(10);
    const stops = await Promise.all(Array.from({ length: 200 }, (_, index) => use(runs[index % 10]!, 5)));
    expect(stops.some(Boolean)).toBe(true);
    expect(await fixture.rows('SELECT tokens::int FROM budget_use')).toEqual([{ tokens: 1_000 }]);
    expect(told).toHaveLength(1);
  });

  it('stops nobody in shadow', async () => {
    await budget({ tokensMax: 10, isEnforced: false });
    await create();
    const [run] = await claim();
    expect(await use(run!, 60)).toBeUndefined();
    expect(told).toMatchObject([{ isEnforced: false }]);
    await create();
  });

  it('counts for those alone who have made the run', async () => {
    await budget({ subject: 'creator', tokensMax: 10 });
    await create(by('ada'));
    await create(by('bob'));
    const runs = await claim(2);
    const ofAda = await use(runs[0]!, 20);
    expect(ofAda).toMatchObject({ subjectId: 'ada' });
    expect(await use(runs[1]!, 5)).toBeUndefined();
  });
});

it('a budget that is used up together with other deployments refuses and stops as one used up here', async () => {
  await budget({ subject: 'workspace', tokensMax: 100 });
  await create();
  const [run] = await claim();
  expect(await use(run!, 5)).toBeUndefined();
  await fixture.rows("UPDATE budget_use SET exhausted = 'tokens'");
  await expect(create()).rejects.toMatchObject(refusal);
  expect(await use(run!, 5)).toMatchObject({ name: 'ours', measure: 'tokens', max: 100 });
  await fixture.rows("UPDATE budget_use SET exhausted = 'runs'");
  expect(await use(run!, 5)).toBeUndefined();
  await create();
  await fixture.rows('UPDATE budget SET runs_max = 50');
  await expect(create()).rejects.toMatchObject(refusal);
  await fixture.rows('UPDATE budget_use SET exhausted = NULL');
  await create();
});

it('runs that were created before the first budget are counted on none', async () => {
  await create();
  await budget({ tokensMax: 1 });
  const [run] = await claim();
  expect(run).not.toHaveProperty('budgets');
});

it('sweeps remove what earlier periods counted, and the marks of runs that have ended', async () => {
  await budget({ runsMax: 5 });
  await budget({ runsMax: 5, period: 'hour' });
  await create();
  await create();
  const [run] = await claim();
  await fixture.engine.finishRun(success(run!));
  await fixture.rows(
    "INSERT INTO budget_use SELECT budget_id, start - interval '40 days', 'old', 1, 1 FROM budget_use",
  );
  await fixture.engine.sweep();
  expect(await fixture.rows("SELECT subject_id FROM budget_use WHERE subject_id = 'old'")).toEqual([]);
  expect(await fixture.rows('SELECT count(*)::int AS marks FROM run_budget')).toEqual([{ marks: 2 }]);
  expect(await fixture.rows('SELECT count(*)::int AS rows FROM budget_use')).toEqual([{ rows: 2 }]);
});
