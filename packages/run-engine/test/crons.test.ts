import { randomUUID } from 'node:crypto';
import { createDataCipher, type DataCipher, EncryptionUnavailableError, NO_ENCRYPTION } from '@runyard/encryption';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { RunEngine } from '../src/engine.ts';
import type { AcceptedRun, DueCron } from '../src/index.ts';
import { aRun, type EngineFixture, openEngine } from './engine-fixture.ts';

let fixture: EngineFixture;
let assistantId: string;
beforeAll(async () => {
  fixture = await openEngine();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  await fixture.rows('TRUNCATE cron, cron_slot, run, outbox, assistant CASCADE');
  assistantId = randomUUID();
  await fixture.rows("INSERT INTO assistant (assistant_id, graph_id, name) VALUES ($1, 'agent', 'A')", [assistantId]);
});

interface CronInput {
  schedule: string;
  threadId: string | null;
  /** Seconds from now; negative when the slot is in the past. */
  dueIn: number;
  endIn: number | null;
  enabled: boolean;
}

async function cron(overrides: Partial<CronInput> = {}): Promise<string> {
  const { schedule, threadId, dueIn, endIn, enabled } = {
    schedule: '* * * * *',
    threadId: null,
    dueIn: -1,
    endIn: null,
    enabled: true,
    ...overrides,
  };
  const cronId = randomUUID();
  await fixture.rows(
    `INSERT INTO cron (cron_id, assistant_id, thread_id, schedule, enabled, payload, next_run_date, end_time)
     VALUES ($1, $2, $3, $4, $5, '{"input":{"n":1}}', now() + make_interval(secs => $6), now() + make_interval(secs => $7))`,
    [cronId, assistantId, threadId, schedule, enabled, dueIn, endIn],
  );
  return cronId;
}

/** Makes a run with the name of its cron, so that runs can be told apart. */
function runOf(due: DueCron, overrides: Partial<AcceptedRun> = {}): AcceptedRun {
  const { cronId, threadId, assistant, payload } = due;
  return aRun({
    ...(threadId !== null && { threadId }),
    assistantId: assistant.assistantId,
    graphId: assistant.graphId,
    metadata: { cron_id: cronId },
    kwargs: payload,
    ...overrides,
  });
}

const fire = (toRun: (due: DueCron) => AcceptedRun = runOf, engine = fixture.engine) =>
  engine.crons.fire({ graphIds: ['agent'], toRun });

/** Opens an engine for each cipher, as processes of one deployment. */
function openEngines(ciphers: DataCipher[]): RunEngine[] {
  return ciphers.map(
    (cipher) => new RunEngine({ pool: fixture.pool, deploymentId: 'test', source: '/runyard/test', cipher }),
  );
}

async function runsOf(cronId: string): Promise<number> {
  return (await fixture.rows("SELECT 1 FROM run WHERE metadata->>'cron_id' = $1", [cronId])).length;
}

async function row(cronId: string) {
  const [found] = await fixture.rows(
    `SELECT next_run_date, next_run_date > now() AND next_run_date <= now() + interval '1 minute' AS is_within_a_minute,
            (SELECT count(*)::int FROM cron_slot s WHERE s.cron_id = c.cron_id) AS slots
     FROM cron c WHERE cron_id = $1`,
    [cronId],
  );
  return found;
}

describe('a due slot', () => {
  it('passes without a run while the newest edit of the project does not load, and is not made up for', async () => {
    const [cronId, later] = [await cron(), await cron({ dueIn: 60 })];
    await fixture.rows("UPDATE deployment SET failed_revision = 'r'");
    expect(await fire()).toMatchObject([{ cronId, skipReason: 'edit_failed', cancelled: [] }]);
    await fixture.rows('UPDATE deployment SET failed_revision = NULL');
    expect(await fire()).toEqual([]);
    expect(await runsOf(cronId)).toBe(0);
    expect(await row(cronId)).toMatchObject({ is_within_a_minute: true, slots: 0 });
    await fixture.rows('UPDATE cron SET next_run_date = now() WHERE cron_id = $1', [later]);
    expect(await fire()).toMatchObject([{ cronId: later, run: { status: 'pending' } }]);
  });

  it('has its run, the run its event, and the cron its next slot', async () => {
    const cronId = await cron();
    const [fired] = await fire();
    expect(fired).toMatchObject({ cronId, run: { status: 'pending', kwargs: { input: { n: 1 } } }, cancelled: [] });
    expect(await runsOf(cronId)).toBe(1);
    expect(await row(cronId)).toMatchObject({ is_within_a_minute: true, slots: 1 });
    expect(await fixture.rows("SELECT 1 FROM outbox WHERE event->>'type' = 'runyard.run.created'")).toHaveLength(1);
    expect(await fire()).toEqual([]);
  });

  it('locks nothing while handlers of the project are asked what to store', async () => {
    const cronId = await cron();
    const asked: object[] = [];
    const json: DataCipher['json'] = {
      ...NO_ENCRYPTION.json,
      hasHandlers: true,
      encrypt: async (metadata) => {
        asked.push(metadata as object);
        expect(await fixture.rows('SELECT 1 FROM cron FOR UPDATE NOWAIT')).toHaveLength(1);
        return { ...metadata, note: 'encrypted' };
      },
    };
    const { pool } = fixture;
    const engine = new RunEngine({ pool, deploymentId: 'd', source: '/test', cipher: { ...NO_ENCRYPTION, json } });
    const [fired] = await fire((due) => runOf(due, { metadata: { cron_id: cronId, note: 'plain' } }), engine);
    expect(fired).toMatchObject({ cronId, run: { metadata: { note: 'plain' } } });
    expect(await fixture.rows("SELECT metadata->>'note' AS note FROM run")).toEqual([{ note: 'encrypted' }]);
    expect(asked).toHaveLength(2);
    await engine.close();
  });

  it('fires once, however many processes fire at once', async () => {
    const engines = Array.from(
      { length: 4 },
      () => new RunEngine({ pool: fixture.pool, deploymentId: 'test', source: '/runyard/test' }),
    );
    const threadId = await fixture.thread();
    const cronIds = await Promise.all([
      ...Array.from({ length: 20 }, () => cron()),
      ...Array.from({ length: 3 }, () => cron({ threadId })),
    ]);
    const until = async (engine: RunEngine) => {
      while ((await engine.crons.millisecondsToNextSlot(['agent'])) === 0) await fire(runOf, engine);
    };
    await Promise.all(engines.map(until));
    for (const cronId of cronIds) {
      expect(await runsOf(cronId)).toBe(1);
      expect(await row(cronId)).toMatchObject({ slots: 1 });
    }
    await Promise.all(engines.map((engine) => engine.close()));
  });

  it('fires once for all that were missed', async () => {
    const cronId = await cron({ dueIn: -3 * 86_400 });
    await fire();
    expect(await runsOf(cronId)).toBe(1);
    expect(await row(cronId)).toMatchObject({ is_within_a_minute: true });
    expect(await fire()).toEqual([]);
  });

  it('creates a thread that ends like those of all other runs', async () => {
    const threadTtl = { strategy: 'delete', minutes: 60 } as const;
    const engine = new RunEngine({ pool: fixture.pool, deploymentId: 'test', source: '/runyard/test', threadTtl });
    await cron();
    const [fired] = await fire((due) => runOf(due, { keepsThread: true }), engine);
    expect(
      await fixture.rows('SELECT ttl_minutes, expires_at > now() AS ends FROM thread WHERE thread_id = $1', [
        fired?.run?.threadId,
      ]),
    ).toEqual([{ ttl_minutes: 60, ends: true }]);
    await engine.close();
  });

  it('stays as it was when any part of its firing fails', async () => {
    const cronId = await cron();
    await fixture.rows(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$`);
    await fixture.rows('CREATE TRIGGER refuse BEFORE INSERT ON cron_slot FOR EACH ROW EXECUTE FUNCTION refuse()');
    await expect(fire()).rejects.toThrow('no');
    expect(await runsOf(cronId)).toBe(0);
    expect(await fixture.rows('SELECT 1 FROM outbox')).toHaveLength(0);
    await fixture.rows('DROP FUNCTION refuse CASCADE');
    expect(await fire()).toHaveLength(1);
  });

  it("gets no second run when the database's clock was set back", async () => {
    const cronId = await cron();
    await fixture.rows(
      'INSERT INTO cron_slot (cron_id, slot, run_id) SELECT cron_id, next_run_date, gen_random_uuid() FROM cron',
    );
    expect(await fire()).toEqual([{ cronId, slot: expect.any(Date), cancelled: [] }]);
    expect(await runsOf(cronId)).toBe(0);
    expect(await row(cronId)).toMatchObject({ is_within_a_minute: true });
  });

  it('is remembered for two days, found by its time', async () => {
    const cronId = await cron();
    await fixture.rows(
      `INSERT INTO cron_slot (cron_id, slot, run_id)
       SELECT $1, now() - make_interval(hours => n), gen_random_uuid() FROM unnest(ARRAY[1, 47, 49, 72]) AS n`,
      [cronId],
    );
    await fire();
    const kept = await fixture.rows(
      'SELECT round(extract(epoch FROM now() - slot) / 3600)::int AS hours FROM cron_slot',
    );
    expect(kept.map(({ hours }) => Number(hours)).sort((a, b) => a - b)).toEqual([0, 1, 47]);
  });

  it('is the only one without a run when its cron is faulty', async () => {
    const [thrown, refused, sound] = [await cron(), await cron(), await cron()];
    const fired = await fire((due) => {
      if (due.cronId === thrown) throw new Error('not like this');
      return runOf(due, due.cronId === refused ? { assistantId: 'no uuid' } : {});
    });
    expect(new Map(fired.map((each) => [each.cronId, each.refusal?.message]))).toEqual(
      new Map([
        [thrown, 'not like this'],
        [refused, expect.stringContaining('no uuid')],
        [sound, undefined],
      ]),
    );
    expect([await runsOf(thrown), await runsOf(refused), await runsOf(sound)]).toEqual([0, 0, 1]);
    expect(await fire()).toEqual([]);
  });

  it('stays due when its cron cannot be decrypted here: it delays no other, and a process with the key fires it', async () => {
    const [locked, sound] = [await cron({ schedule: '@yearly' }), await cron()];
    const cipher = createDataCipher('k'.repeat(32));
    const payload = cipher.encrypt(Buffer.from('{"input":{"n":1}}'));
    await fixture.rows('UPDATE cron SET payload = $2 WHERE cron_id = $1', [locked, payload]);
    const [slot] = await fixture.rows('SELECT next_run_date FROM cron WHERE cron_id = $1', [locked]);
    const engines = openEngines([NO_ENCRYPTION, cipher]);
    const fired = await fire(runOf, engines[0]);
    expect(fired.find(({ cronId }) => cronId === locked)?.postponement?.message).toContain('LANGGRAPH_AES_KEY');
    expect([await runsOf(locked), await runsOf(sound)]).toEqual([0, 1]);
    expect(await row(locked)).toMatchObject({ ...slot, slots: 0 });
    // This process tries it again, but not at once.
    expect(await fire(runOf, engines[0])).toEqual([]);
    const againMs = await engines[0]!.crons.millisecondsToNextSlot(['agent']);
    expect(againMs).toBeGreaterThan(0);
    expect(againMs).toBeLessThanOrEqual(60_000);
    // Slots that wait for long leave room for those behind them.
    const now = performance.now.bind(performance);
    const fireIn = (ms: number) => {
      vi.spyOn(performance, 'now').mockImplementation(() => now() + ms);
      return fire(runOf, engines[0]).finally(() => vi.restoreAllMocks());
    };
    expect(await fireIn(60_000)).toMatchObject([{ cronId: locked, postponement: expect.any(Error) }]);
    expect(await fireIn(120_000)).toEqual([]);
    expect(await fireIn(180_000)).toMatchObject([{ cronId: locked, postponement: expect.any(Error) }]);
    expect(await fire(runOf, engines[1])).toMatchObject([{ cronId: locked, run: { status: 'pending' } }]);
    expect([await runsOf(locked), (await row(locked))?.slots]).toEqual([1, 1]);
    await Promise.all(engines.map((engine) => engine.close()));
  });

  it('stays due when the project does not encrypt its run, and has one run when it does again', async () => {
    const cronId = await cron({ schedule: '@yearly' });
    let isAway = true;
    const json: DataCipher['json'] = {
      ...NO_ENCRYPTION.json,
      hasHandlers: true,
      encrypt: async (metadata) => {
        if (isAway) throw new EncryptionUnavailableError(new Error('the key service is away'));
        return metadata;
      },
    };
    const [first, second] = openEngines(Array(2).fill({ ...NO_ENCRYPTION, json }));
    expect(await fire(runOf, first)).toMatchObject([{ cronId, postponement: { name: 'EncryptionUnavailableError' } }]);
    expect(await runsOf(cronId)).toBe(0);
    isAway = false;
    expect(await fire(runOf, second)).toMatchObject([{ cronId, run: { status: 'pending' } }]);
    expect(await runsOf(cronId)).toBe(1);
    await Promise.all([first!.close(), second!.close()]);
  });

  it('stays due when the keys cannot be read from the database', async () => {
    const cronId = await cron();
    const scopeOf = () => Promise.reject(new Error('no connection'));
    const [engine] = openEngines([{ ...NO_ENCRYPTION, scopeOf }]);
    await expect(fire(runOf, engine)).rejects.toThrow('no connection');
    expect(await row(cronId)).toMatchObject({ slots: 0, is_within_a_minute: false });
    await engine!.close();
  });
});

describe('a firing', () => {
  it('skips crons that are paused, not yet due, or of a graph that this process does not have', async () => {
    await cron({ enabled: false });
    const later = await cron({ dueIn: 30 });
    await fixture.rows("UPDATE assistant SET graph_id = 'other'");
    expect(await fire()).toEqual([]);
    expect(await fixture.engine.crons.millisecondsToNextSlot(['agent'])).toBeUndefined();
    await fixture.rows("UPDATE assistant SET graph_id = 'agent'");
    expect(await fire()).toEqual([]);
    expect(await fixture.engine.crons.millisecondsToNextSlot(['agent'])).toBeGreaterThan(25_000);
    expect(await row(later)).toMatchObject({ slots: 0 });
  });

  it('skips slots after the end of a cron, which has no next slot after its last one', async () => {
    const cronId = await cron({ dueIn: -5, endIn: -2 });
    expect(await fire()).toHaveLength(1);
    expect(await row(cronId)).toMatchObject({ next_run_date: null, slots: 1 });
    expect(await fixture.engine.crons.millisecondsToNextSlot(['agent'])).toBeUndefined();
  });
});

describe('crons with seconds that the previous release left without a slot', () => {
  it('get their next slot if there is one, and no other cron does', async () => {
    const cronAtRest = async (overrides: Partial<CronInput>) => {
      const cronId = await cron(overrides);
      await fixture.rows('UPDATE cron SET next_run_date = NULL WHERE cron_id = $1', [cronId]);
      return cronId;
    };
    // Half a minute away: the next second may begin before the slot is read.
    const withSeconds = { schedule: `* * * * * ${(new Date().getSeconds() + 30) % 60}` };
    const dormant = await cronAtRest(withSeconds);
    const others = [
      await cronAtRest({ schedule: '* * * * *' }),
      await cronAtRest({ ...withSeconds, enabled: false }),
      await cronAtRest({ ...withSeconds, endIn: -1 }),
      await cronAtRest({ schedule: '0 0 30 2 * 0' }),
      await cronAtRest({ schedule: 'not to be read at all' }),
    ];
    expect(await fixture.engine.crons.repairNextSlots()).toBe(1);
    expect(await row(dormant)).toMatchObject({ is_within_a_minute: true });
    for (const cronId of others) expect(await row(cronId)).toMatchObject({ next_run_date: null });
    expect(await fixture.engine.crons.repairNextSlots()).toBe(0);
  });
});

describe('a cron with a thread', () => {
  it('fires by its multitask strategy: a refused run uses the slot up', async () => {
    const threadId = await fixture.thread();
    const cronId = await cron({ threadId });
    await fixture.engine.createRun(aRun({ threadId }));
    const [fired] = await fire((due) => runOf(due, { multitaskStrategy: 'reject' }));
    expect(fired?.refusal?.message).toMatch(/^Thread is already running a task/);
    expect(await row(cronId)).toMatchObject({ is_within_a_minute: true, slots: 0 });
    await fixture.rows("UPDATE cron SET next_run_date = now() - interval '1 second'");
    const [interrupting] = await fire((due) => runOf(due, { multitaskStrategy: 'interrupt' }));
    expect(interrupting?.cancelled).toHaveLength(1);
  });

  it('is deleted with its thread, even while it fires', async () => {
    const threadId = await fixture.thread();
    await Promise.all(Array.from({ length: 5 }, () => cron({ threadId })));
    await Promise.all([fire(), fire(), fixture.engine.deleteThread(threadId)]);
    expect(await fixture.rows('SELECT 1 FROM cron')).toHaveLength(0);
    expect(await fixture.rows('SELECT 1 FROM cron_slot')).toHaveLength(0);
  });
});

it('a cron is deleted with its assistant', async () => {
  await cron();
  await fixture.rows('DELETE FROM assistant WHERE assistant_id = $1', [assistantId]);
  expect(await fire()).toEqual([]);
  expect(await fixture.rows('SELECT 1 FROM cron')).toHaveLength(0);
});
