import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchDeployment } from './deployment.ts';
import type { Random } from './random.ts';

const STEPS = 3;
const POLL_MS = 100;
const ENDED_WITHIN_MS = 30_000;

/** The order that ends the run: a cancel, or a new run on its thread with that strategy. */
export type RaceKind = `${'cancel' | 'new run'}: ${'interrupt' | 'rollback'}`;
export const RACE_KINDS: readonly RaceKind[] = [
  'cancel: interrupt',
  'cancel: rollback',
  'new run: interrupt',
  'new run: rollback',
];

/** One run that was ordered to end near its own end, with the outcome. */
export interface Race {
  kind: RaceKind;
  runId: string;
  threadId: string;
  /** True when the cancel is answered only once the run has ended. */
  waits: boolean;
  /** Milliseconds since 1970 when the order was answered. */
  orderedAt: number;
  /** False when the run had ended before. */
  wasInTime: boolean;
  /** The run's final status by the API; `gone` when it is not found. */
  end: string;
  /** Milliseconds from the order's answer until the API showed the end. */
  visibleMs: number;
  /** The content of the thread before and after the run, where a rollback has to leave no difference. */
  before?: string;
  after?: string;
  /** An answer that is none of the allowed ones. */
  surprise?: string;
}

/** Creates a run and orders it to end after a random time. */
export async function runRace(deployment: BenchDeployment, kind: RaceKind, random: Random): Promise<Race | undefined> {
  const threadId = randomUUID();
  const hasPast = random.chance(0.3);
  // Runs take half a second, so that workers are lost meanwhile; half of the orders come before the end.
  const [sleepMs, delayMs, waits] = [random.integer(0, 300), random.integer(0, 1_000), random.chance(0.5)];
  if (hasPast && !(await pastOf(deployment, threadId))) return undefined;
  const before = await dumpThreadState(deployment, threadId);
  const steps = STEPS + (hasPast ? 1 : 0);
  const run = await deployment.createRun({ steps, sleepMs }, { threadId });
  if (!run) return undefined;
  await pause(delayMs);
  const [by, action] = kind.split(': ') as [string, 'interrupt' | 'rollback'];
  const race: Race = {
    kind,
    ...run,
    waits: by === 'cancel' && waits,
    orderedAt: 0,
    wasInTime: true,
    end: '',
    visibleMs: 0,
  };
  if (by === 'cancel') {
    const path = `/threads/${threadId}/runs/${run.runId}/cancel?action=${action}${waits ? '&wait=true' : ''}`;
    const { status } = await deployment.call('POST', path);
    race.wasInTime = status !== 404;
    if (status !== (waits ? 200 : 202) && status !== 404) race.surprise = `a cancel was answered ${status}`;
  } else {
    const next = await deployment.createRun({ steps: steps * 2 }, { threadId, run: { multitask_strategy: action } });
    if (!next) race.surprise = 'a new run was not accepted';
  }
  race.orderedAt = Date.now();
  race.end = await endOf(deployment, run);
  race.visibleMs = Date.now() - race.orderedAt;
  if (kind === 'cancel: rollback' && race.end === 'gone') {
    Object.assign(race, { before, after: await dumpThreadState(deployment, threadId) });
  }
  return race;
}

async function pastOf(deployment: BenchDeployment, threadId: string): Promise<boolean> {
  const run = await deployment.createRun({ steps: 1 }, { threadId });
  return run !== undefined && (await endOf(deployment, run)) === 'success';
}

async function endOf(deployment: BenchDeployment, run: { threadId: string; runId: string }): Promise<string> {
  const until = Date.now() + ENDED_WITHIN_MS;
  for (;;) {
    const { status, body } = await deployment.call('GET', `/threads/${run.threadId}/runs/${run.runId}`);
    if (status === 404) return 'gone';
    const shown = status === 200 ? (body as { status: string }).status : `answered ${status}`;
    if ((shown !== 'pending' && shown !== 'running') || Date.now() > until) return shown;
    await pause(POLL_MS);
  }
}

/** Returns all that is kept of a thread's state, as one text to be compared. */
export async function dumpThreadState({ pool, cipher }: BenchDeployment, threadId: string): Promise<string> {
  const { rows } = await pool.query<{ held: string; values: Buffer | null }>(
    `SELECT concat_ws(' | ',
       (SELECT string_agg(checkpoint_ns || checkpoint_id || md5(data), ',' ORDER BY checkpoint_ns, checkpoint_id)
        FROM checkpoint WHERE thread_id = $1),
       (SELECT string_agg(channel || version || md5(data), ',' ORDER BY channel, version) FROM checkpoint_blob WHERE thread_id = $1),
       (SELECT string_agg(checkpoint_id || task_id || idx || md5(data), ',' ORDER BY checkpoint_id, task_id, idx)
        FROM checkpoint_write WHERE thread_id = $1),
       (SELECT checkpoint_id FROM thread_state WHERE thread_id = $1)) AS held,
       (SELECT "values" FROM thread_state WHERE thread_id = $1) AS "values"`,
    [threadId],
  );
  const { held, values } = rows[0]!;
  // The same values are encrypted in another way each time.
  return `${held} | ${values && cipher.decrypt(values)}`;
}
