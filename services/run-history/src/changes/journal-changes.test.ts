import { setTimeout as pause } from 'node:timers/promises';
import { silentLogger } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import type pg from 'pg';
import { expect, it } from 'vitest';
import { JournalChanges } from './journal-changes.ts';

const NOTHING = { newest: 1, deployment_id: null, workspace_id: null, change: null };

/** Makes changes that are asked of a fake pool. */
function makeChanges() {
  const asked: (number | undefined)[] = [];
  const state = { isAway: false };
  const pool = {
    async query(query: string | { values: number[] }) {
      if (state.isAway) throw new Error('away');
      const position = typeof query === 'string' ? undefined : query.values[0];
      asked.push(position);
      return { rows: position === undefined ? [{ change: 1 }] : [NOTHING] };
    },
  };
  return { asked, state, changes: new JournalChanges({ pool: pool as unknown as pg.Pool, logger: silentLogger }) };
}

it('the database is asked once for all who listen, and not at all when nobody does', async () => {
  const { asked, changes } = makeChanges();
  await pause(600);
  expect(asked).toEqual([]);
  const stops = await Promise.all(Array.from({ length: 100 }, () => changes.listen('w', () => undefined)));
  await waitFor(() => asked.length === 3);
  expect(asked).toEqual([undefined, 1, 1]);
  for (const stop of stops) stop();
  await pause(600);
  const { length } = asked;
  await pause(600);
  expect(asked.length).toBe(length);
  const stop = await changes.listen('w', () => undefined);
  expect(asked.at(-1)).toBeUndefined();
  stop();
});

it('who cannot begin to listen is told so, and the next one can', async () => {
  const { state, changes } = makeChanges();
  state.isAway = true;
  const both = await Promise.allSettled([1, 2].map(() => changes.listen('w', () => undefined)));
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  state.isAway = false;
  const stop = await changes.listen('w', () => undefined);
  stop();
});
