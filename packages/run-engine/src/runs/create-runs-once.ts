import { claimKey, claimKeys, KeyTakenError, onPg, releaseKeys, settleKeys } from '@runyard/idempotency';
import type pg from 'pg';
import type { KeyedCreation } from '../types.ts';
import type { CreationRules } from './create-runs.ts';
import { createRunsWithinBudgets } from './create-within-budgets.ts';
import type { EncodedRun } from './encode-run.ts';
import type { CreatedRun, RunRecord } from './types.ts';

type KeyedItem = EncodedRun & { keyed: KeyedCreation<RunRecord> };
const isKeyed = (item: EncodedRun): item is KeyedItem => item.keyed !== undefined;

/**
 * Like `createRunsWithinBudgets`, with idempotency keys. An item whose key another request has gets a `KeyTakenError` in its place,
 * and a refused item leaves its key free. Keys are claimed before threads are created and checked, so that a repeated
 * request finds its first run and not the thread that this run made busy. A batch without keys sends no additional
 * statement.
 */
export async function createRunsOnce(
  client: pg.ClientBase,
  batch: EncodedRun[],
  rules: CreationRules,
): Promise<(CreatedRun | Error)[]> {
  const keyed = batch.filter(isKeyed);
  if (keyed.length === 0) return createRunsWithinBudgets(client, batch, rules);
  const keys = onPg(client);
  const claimed = await claimKeys(
    keys,
    keyed.map((item) => item.keyed.request),
  );
  const own = batch.filter((item) => !isKeyed(item) || claimed.has(item.keyed.request.claim));
  const results = await createRunsWithinBudgets(client, own, rules);

  const bound: { request: KeyedItem['keyed']['request']; answer: unknown }[] = [];
  const freed: KeyedItem['keyed']['request'][] = [];
  for (const [index, item] of own.entries()) {
    if (!isKeyed(item)) continue;
    const { request, answerOf } = item.keyed;
    const result = results[index]!;
    if (result instanceof Error) freed.push(request);
    else bound.push({ request, answer: answerOf(result.run) });
  }
  await settleKeys(keys, bound);
  await releaseKeys(keys, freed);
  const byItem = new Map(own.map((item, index) => [item, results[index]!]));
  return batch.map((item) => byItem.get(item) ?? new KeyTakenError());
}

/** Creates the stateless runs of one request, all or none. @throws KeyTakenError */
export async function createRunsTogether(
  client: pg.ClientBase,
  batch: EncodedRun[],
  keyed: KeyedCreation<RunRecord[]> | undefined,
  rules: CreationRules,
): Promise<CreatedRun[]> {
  const keys = onPg(client);
  if (keyed) await claimKey(keys, keyed.request);
  const created = (await createRunsWithinBudgets(client, batch, rules)).map((result) => {
    if (result instanceof Error) throw result;
    return result;
  });
  if (keyed) {
    const answer = keyed.answerOf(created.map(({ run }) => run));
    await settleKeys(keys, [{ request: keyed.request, answer }]);
  }
  return created;
}
