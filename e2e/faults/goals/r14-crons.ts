import { waitFor } from '@runyard/test-kit';
import type { Bench } from '../bench/bench.ts';
import type { BenchDeployment } from '../bench/deployment.ts';
import { FakeDatabaseClock } from '../bench/fake-database-clock.ts';
import type { Goal } from '../bench/goal.ts';
import type { Part } from '../bench/part.ts';

const CRONS = 50;
const HOUR = 60;
const WAIT = { timeoutMs: 60_000, intervalMs: 100 };

export const goal: Goal = {
  id: 'R14',
  title:
    'Each time of a cron makes one run, whichever process dies and however the clock is set; missed times make one together.',
  async run(bench) {
    const deployment = await bench.deployment({ agentApis: 0, workers: 0 });
    const clock = await FakeDatabaseClock.install(deployment.pool);
    for (let index = 0; index < 3; index += 1) await deployment.addPart('agent-api');
    await Promise.all(deployment.agentApis.map((part) => part.start()));
    const crons = new Crons(bench, deployment);
    await crons.create();

    const ticks = bench.size({ fast: 4, full: 20 });
    const killEvery = Math.max(1, Math.floor(ticks / bench.size({ fast: 2, full: 8 })));
    for (let tick = 0; tick < ticks; tick += 1) {
      const slot = await clock.advance(1);
      if (tick % killEvery === 0) await crons.killOne();
      await crons.untilFired(slot);
    }
    await crons.untilAllReady();

    // Nobody was there for an hour: the first of its slots fires, for all of them.
    const missed = await clock.advance(1);
    await clock.advance(HOUR - 1);
    await crons.untilFired(missed);
    // The same hour comes again: it has had its runs, also for a cron whose next time is computed anew.
    await clock.advance(-HOUR);
    await crons.reschedule();
    for (let minute = 0; minute < HOUR; minute += HOUR / 4) {
      await clock.advance(HOUR / 4);
      await crons.lookAndSettle();
    }
    for (let tick = 0; tick < 3; tick += 1) await crons.untilFired(await clock.advance(1));

    const { found, slots } = await crons.violations();
    for (const [what, violations] of Object.entries(found)) bench.measureNone(what, violations, slots);
    bench.measureEnough('slots fired', slots, CRONS * (ticks + 4));
    bench.measureEnough('schedulers killed', crons.kills, Math.ceil(ticks / killEvery));
  },
};

/** Crons of every minute, which processes fire that are killed. */
class Crons {
  readonly #bench: Bench;
  readonly #deployment: BenchDeployment;
  /** A cron that is due once a year: changing it wakes all processes to look at their crons. */
  #bell = '';
  #rung = 0;
  #rescheduled: string[] = [];
  readonly #expected: string[] = [];
  kills = 0;

  constructor(bench: Bench, deployment: BenchDeployment) {
    this.#bench = bench;
    this.#deployment = deployment;
  }

  async create(): Promise<void> {
    this.#bell = await this.#cron('0 0 1 1 *');
    const ids = await Promise.all(Array.from({ length: CRONS }, () => this.#cron('* * * * *')));
    this.#rescheduled = ids.slice(0, 10);
  }

  /** Resolves when every cron has fired this slot. */
  async untilFired(slot: Date): Promise<void> {
    this.#expected.push(slot.toISOString());
    await this.#ringUntil(
      'SELECT count(*) = $2 AS done FROM cron_slot WHERE slot = $1',
      [slot, CRONS],
      `slot ${slot.toISOString()}`,
    );
  }

  /** Resolves when nothing is due. */
  async lookAndSettle(): Promise<void> {
    await this.#ringUntil(
      'SELECT count(*) = 0 AS done FROM cron WHERE next_run_date <= (SELECT at FROM steered.clock)',
      [],
      'nothing to be due',
    );
  }

  async reschedule(): Promise<void> {
    for (const id of this.#rescheduled) {
      await this.#deployment.call('PATCH', `/runs/crons/${id}`, { body: { schedule: '*/1 * * * *' } });
    }
  }

  /** Kills one of those that are ready, once others are too; it is started again in the background. */
  async killOne(): Promise<void> {
    const ready = await waitFor(() => this.#twoReady(), { ...WAIT, what: 'two agent-apis to be ready' });
    const victim = this.#bench.random.pick(ready);
    void this.#ring();
    await victim.kill();
    this.kills += 1;
    void victim.start();
  }

  async untilAllReady(): Promise<void> {
    for (const part of this.#deployment.agentApis)
      await waitFor(() => part.isReady(), { ...WAIT, what: 'an agent-api' });
  }

  async violations(): Promise<{ found: Record<string, string[]>; slots: number }> {
    const { rows: slots } = await this.#deployment.pool.query<{ cron: string; slot: Date }>(
      'SELECT cron_id AS cron, slot FROM cron_slot',
    );
    const { rows: counted } = await this.#deployment.pool.query<{ cron: string; runs: number; slots: number }>(`
      SELECT cron_id AS cron, (SELECT count(*)::int FROM run r WHERE r.metadata->>'cron_id' = c.cron_id::text) AS runs,
             (SELECT count(*)::int FROM cron_slot s WHERE s.cron_id = c.cron_id) AS slots FROM cron c`);
    const fired = new Map<string, string[]>();
    for (const { cron, slot } of slots) fired.set(cron, [...(fired.get(cron) ?? []), slot.toISOString()]);
    const unchanged = [...fired].filter(([cron]) => !this.#rescheduled.includes(cron));
    return {
      slots: slots.length,
      found: {
        'crons with another number of runs than of slots': counted
          .filter((each) => each.runs !== each.slots)
          .map((each) => `${each.cron}: ${each.runs} runs, ${each.slots} slots`),
        'slots that made no run': [...fired].flatMap(([cron, had]) =>
          this.#expected.filter((slot) => !had.includes(slot)).map((slot) => `${cron} at ${slot}`),
        ),
        'slots that were not to be': unchanged.flatMap(([cron, had]) =>
          had.filter((slot) => !this.#expected.includes(slot)).map((slot) => `${cron} at ${slot}`),
        ),
      },
    };
  }

  async #twoReady(): Promise<Part[] | undefined> {
    const isReady = await Promise.all(this.#deployment.agentApis.map((part) => part.isReady()));
    const ready = this.#deployment.agentApis.filter((_, index) => isReady[index]);
    return ready.length < 2 ? undefined : ready;
  }

  async #cron(schedule: string): Promise<string> {
    const body = { assistant_id: 'ledger', schedule, input: {} };
    const call = await this.#deployment.call('POST', '/runs/crons', { body });
    if (call.outcome !== 'ok') throw new Error(`no cron was made: ${JSON.stringify(call)}`);
    return (call.body as { cron_id: string }).cron_id;
  }

  async #ringUntil(query: string, values: unknown[], what: string): Promise<void> {
    await waitFor(
      async () => {
        const { rows } = await this.#deployment.pool.query(query, values);
        if (!rows[0].done) await this.#ring();
        return rows[0].done;
      },
      { timeoutMs: 60_000, intervalMs: 50, what },
    );
  }

  /** Tries one after the other until one has accepted it. */
  async #ring(): Promise<void> {
    this.#rung += 1;
    for (const at of this.#bench.random.shuffle([0, 1, 2])) {
      const body = { metadata: { rung: this.#rung } };
      const call = await this.#deployment.call('PATCH', `/runs/crons/${this.#bell}`, { at, body, timeoutMs: 2_000 });
      if (call.outcome === 'ok') return;
    }
  }
}
