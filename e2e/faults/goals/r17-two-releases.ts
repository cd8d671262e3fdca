import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from '../bench/bench.ts';
import { CutStreams } from '../bench/cut-streams.ts';
import type { BenchDeployment } from '../bench/deployment.ts';
import type { Goal } from '../bench/goal.ts';
import { Interviews } from '../bench/interviews.ts';
import { measureAnswers } from '../bench/measure-answers.ts';
import { MixedPlatform, PLATFORM_SERVICES } from '../bench/mixed-platform.ts';
import { openDatabaseAudit } from '../bench/open-database-audit.ts';
import { measureOutage, measureRuns } from '../bench/outage-checks.ts';
import type { Part } from '../bench/part.ts';
import { PlatformLoad } from '../bench/platform-load.ts';
import { PlatformWatch } from '../bench/platform-watch.ts';
import { SteadyLoad } from '../bench/steady-load.ts';

const THIS = path.resolve(import.meta.dirname, '../../..');
const ENV = {
  BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '5',
  // Kills follow each other so closely that three may hit one run before it makes progress, which R16 covers.
  BG_JOB_MAX_RETRIES: '100',
};
/** Concurrent threads with questions and answers beside the load. */
const INTERVIEWS_AT_ONCE = 3;
const INPUT = { steps: 4, sleepMs: 150, events: 5, bytes: 100 };

export const goal: Goal = {
  id: 'R17',
  title:
    'The release before this one and this one work together on one database, bus and Redis, whichever part is which.',
  needsPrevious: true,
  limitMinutes: 12,
  pythonTier: 'full',
  async run(bench) {
    const { previous } = bench;
    if (previous === undefined) throw new Error('no release before this one is known');
    await deploymentsOfTwo(bench, previous);
    await platformsOfTwo(bench, previous);
  },
};

/** Moves one deployment from all old to all new and back, under load, while workers are killed and streams cut. */
async function deploymentsOfTwo(bench: Bench, previous: string): Promise<void> {
  const deployment = await bench.deployment({ checkout: previous, env: ENV });
  const oldApi = deployment.agentApis[0] as Part;
  const oldWorker = deployment.workers[0] as Part;
  const newApi = await deployment.addPart('agent-api');
  const newWorker = await deployment.addPart('run-worker');
  const load = new SteadyLoads(bench, deployment, newWorker);

  await load.during('all old', [oldApi], [oldWorker]);
  // Its start migrates the tables while the old ones use them.
  await newApi.start();
  await load.during('new agent-api, old worker', [newApi], [oldWorker]);
  await newWorker.start();
  await load.during('both of both', [oldApi, newApi], [oldWorker, newWorker]);
  await load.retire(oldWorker);
  await load.during('old agent-api, new worker', [oldApi], [newWorker]);
  await load.retire(oldApi);
  await load.during('all new', [newApi], [newWorker]);
  await Promise.all([oldApi.start(), oldWorker.start()]);
  await load.retire(newApi);
  await load.retire(newWorker);
  await load.during('all old again, on tables that are new', [oldApi], [oldWorker]);

  await deployment.audit.untilAllEnded(60_000);
  await measureRuns(bench, deployment, load.accepted);
  const { streams, faults, cuts } = load;
  bench.measureNone('streams with events missing, repeated or out of order', faults, streams);
  bench.measureEnough('streams cut and gone on with', cuts, bench.size({ fast: 1, full: 20 }));
  bench.measureNone('processes that did not end well', load.badEnds, load.ends);
  load.interviews.measure(bench, bench.size({ fast: 1, full: 5 }));
  measureOutage(bench, [deployment.history], { boundSeconds: 10 });
}

/** Moves a platform from all old to all new and back, one service after the other, under load. */
async function platformsOfTwo(bench: Bench, previous: string): Promise<void> {
  const platform = await MixedPlatform.start(bench, previous);
  const audit = await openDatabaseAudit(bench, platform);
  const load = new PlatformLoad(platform, { input: INPUT, everyMs: 400 });
  const watch = new PlatformWatch(platform);
  const codes: string[] = [];
  // Old ones run with one new one, then new ones with one old one; the way back gives the other three arrangements.
  const order = bench.random.shuffle(PLATFORM_SERVICES);
  for (const checkout of [THIS, previous]) {
    for (const service of order) {
      const code = await platform.replace(service, checkout);
      if (code !== 0) codes.push(`${service} ended with ${code}`);
      const seconds = await watch.measureRecoverySeconds(performance.now());
      bench.log(`${service} is ${checkout === THIS ? 'new' : 'old'}, all at work after ${seconds.toFixed(1)} s`);
      await pause(bench.size({ fast: 1_000, full: 5_000 }));
    }
  }
  await Promise.all([load.stop(), watch.stop()]);
  await audit.untilAllEnded(60_000);
  for (const [what, found] of Object.entries(await audit.violations(load.accepted))) {
    bench.measureNone(`platform: ${what}`, found, load.accepted.length);
  }
  bench.measureNone('platform: API keys lost', await load.lostKeys(), load.keys.length);
  bench.measureNone('platform: services that did not end well', codes, 2 * order.length);
  measureAnswers(bench, [load.history, watch.history]);
}

/** Runs that some parts create and stream and others execute, one arrangement after the other. */
class SteadyLoads {
  readonly accepted: Awaited<ReturnType<SteadyLoad['stop']>> = [];
  readonly faults: string[] = [];
  readonly badEnds: string[] = [];
  streams = 0;
  cuts = 0;
  ends = 0;
  readonly #bench: Bench;
  /** Interviews of arrangements in which this release executes every attempt. */
  readonly interviews: Interviews;
  readonly #deployment: BenchDeployment;
  readonly #newWorker: Part;

  constructor(bench: Bench, deployment: BenchDeployment, newWorker: Part) {
    this.#bench = bench;
    this.#deployment = deployment;
    this.#newWorker = newWorker;
    this.interviews = new Interviews(deployment, bench.random.fork('interviews'));
  }

  async during(arrangement: string, apis: readonly Part[], workers: readonly Part[]): Promise<void> {
    const { ledger, agentApis } = this.#deployment;
    const { random } = this.#bench;
    const loads = apis.map(
      (api) => new SteadyLoad(this.#deployment, { everyMs: 200, input: INPUT, at: agentApis.indexOf(api) }),
    );
    const urls = () => apis.map(({ url }) => url);
    const streams = new CutStreams({ ledger, random, input: INPUT, clients: 3, urls });
    let isOver = false;
    // The release before this one may lose the answer of a run whose worker was killed: it is held to the end of its
    // runs alone, and this one continues what it asked or began.
    const judges = workers.every((worker) => worker === this.#newWorker);
    const interviews = judges ? this.interviews : new Interviews(this.#deployment, random.fork(arrangement));
    const interviewing = Array.from({ length: INTERVIEWS_AT_ONCE }, async () => {
      const at = agentApis.indexOf(random.pick(apis));
      while (!isOver) await interviews.hold({ sleepMs: INPUT.sleepMs, at });
    });
    const kills = this.#bench.size({ fast: 1, full: 5 });
    for (let kill = 0; kill < kills; kill += 1) {
      await pause(random.integer(500, 1_500));
      const worker = random.pick(workers);
      await worker.kill();
      await worker.start();
    }
    isOver = true;
    await Promise.all(interviewing);
    const accepted = (await Promise.all(loads.map((load) => load.stop()))).flat();
    await streams.stop();
    this.accepted.push(...accepted, ...streams.accepted);
    this.faults.push(...streams.faults.map((fault) => `${arrangement}: ${fault}`));
    this.streams += streams.accepted.length;
    this.cuts += streams.cuts;
    this.#bench.log(
      `${arrangement}: ${accepted.length} runs, ${streams.accepted.length} streams, ${streams.cuts} cuts`,
    );
  }

  /** Stops a part, as a roll-out does. */
  async retire(part: Part): Promise<void> {
    const { code, signal } = await part.stop();
    this.ends += 1;
    if (code !== 0) this.badEnds.push(`${part.service} ended with ${signal ?? code}:\n${part.output().slice(-1_000)}`);
  }
}
