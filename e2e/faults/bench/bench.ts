import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BenchDeployment, type DeploymentOptions } from './deployment.ts';
import type { Tier } from './goal.ts';
import type { Measure } from './measure.ts';
import { MeasuredSettings } from './measured-settings.ts';
import { BenchPlatform } from './platform.ts';
import { type Language, type ProbeProject, prepareProbeProject } from './probe-project.ts';
import { Random } from './random.ts';
import type { BenchServers } from './servers.ts';
import { measureStrangers, Strangers } from './users.ts';

export interface BenchOptions {
  servers: BenchServers;
  tier: Tier;
  seed: number;
  /** Sizes are multiplied by this; below 1 to try a goal out. */
  scale: number;
  /** The built checkout of the release before this one; undefined when there is none to compare with. */
  previous?: string | undefined;
  /** True when the projects' own code knows the users who make the requests. */
  hasUsers?: boolean;
  /** The language of the probe graphs. Default: JavaScript. */
  language?: Language;
  say(line: string): void;
}

/** The tools of a goal. All it opens here is closed when the goal has ended. */
export class Bench {
  readonly servers: BenchServers;
  readonly tier: Tier;
  readonly seed: number;
  readonly random: Random;
  readonly previous: string | undefined;
  readonly project: ProbeProject;
  readonly measures: Measure[] = [];
  readonly settings = new MeasuredSettings();
  readonly #options: BenchOptions;
  readonly #folder: string;
  readonly #closings: (() => Promise<unknown>)[] = [];
  readonly #strangers: Strangers[] = [];

  private constructor(options: BenchOptions, goalId: string, folder: string, project: ProbeProject) {
    this.servers = options.servers;
    this.tier = options.tier;
    this.seed = options.seed;
    this.random = new Random(options.seed).fork(goalId);
    this.previous = options.previous;
    this.project = project;
    this.#options = options;
    this.#folder = folder;
  }

  static async open(options: BenchOptions, goalId: string): Promise<Bench> {
    const project = await prepareProbeProject(options.language ?? 'javascript');
    return new Bench(options, goalId, await mkdtemp(path.join(tmpdir(), `runyard-${goalId.toLowerCase()}-`)), project);
  }

  /** Returns a number by tier and scale; at least 1. */
  size({ fast, full }: { fast: number; full: number }): number {
    return Math.max(1, Math.round((this.tier === 'fast' ? fast : full) * this.#options.scale));
  }

  log(line: string): void {
    this.#options.say(`  ${line}`);
  }

  measure(measure: Measure): void {
    this.measures.push(measure);
  }

  /**
   * Requires that none of a kind is found among `samples` things, of which there have to be `needed`; prints the first
   * few that are found.
   */
  measureNone(what: string, found: readonly string[], samples: number, needed = 1): void {
    for (const each of found.slice(0, 5)) this.log(`${what}: ${each}`);
    this.measure({ what, measured: found.length, limit: 0, unit: '', samples, needed });
  }

  /** Requires at least so much of something, or else the goal has shown nothing. */
  measureEnough(what: string, measured: number, limit: number, unit = ''): void {
    this.measure({ what, measured, limit, unit, samples: measured, needed: 0, atLeast: true });
  }

  async deployment(options: DeploymentOptions = {}): Promise<BenchDeployment> {
    this.settings.add(options.env);
    const { hasUsers = false } = this.#options;
    const deployment = await BenchDeployment.start(this.servers, this.#folder, {
      ...options,
      hasUsers,
      project: this.project,
    });
    this.onClose(() => deployment.close());
    if (hasUsers) this.#strangers.push(new Strangers(deployment));
    return deployment;
  }

  /** Measures that users of the deployments saw nothing of each other, whatever happened. */
  async measureStrangers(): Promise<void> {
    const findings = await Promise.all(this.#strangers.splice(0).map((strangers) => strangers.conclude()));
    if (findings.length > 0) measureStrangers(this, findings);
  }

  /** @param env variables of its launcher */
  async platform(env?: Record<string, string>): Promise<BenchPlatform> {
    const platform = await BenchPlatform.start(this.servers, this.#folder, env);
    this.onClose(() => platform.close());
    return platform;
  }

  /** The folder of the goal's own. */
  get folder(): string {
    return this.#folder;
  }

  onClose(close: () => Promise<unknown>): void {
    this.#closings.push(close);
  }

  async close(): Promise<void> {
    await this.servers.heal();
    for (const close of this.#closings.splice(0).reverse()) {
      await close().catch((error: unknown) => this.log(`while closing: ${(error as Error).message}`));
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}
