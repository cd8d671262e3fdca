import { execFile } from 'node:child_process';
import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { KafkaServer } from '@runyard/local-infra';
import { type Platform, startPlatform } from '../../harness/platform.ts';
import { History } from './history.ts';
import { kafkaVariables } from './kafka-variables.ts';
import { Ledger } from './ledger.ts';
import type { ServiceName } from './part.ts';
import type { BenchServers } from './servers.ts';

const PROJECT = path.join(import.meta.dirname, '../project');

/** A service that has a process of its own, or the process that several share. */
export type ProcessName = ServiceName | 'platform-services';

/** The whole platform as `npm start` brings it up, on the bench's servers, with access to all its processes. */
export class BenchPlatform {
  readonly history = new History();
  readonly ledger: Ledger;
  readonly #platform: Platform;

  private constructor(platform: Platform, ledger: Ledger) {
    this.#platform = platform;
    this.ledger = ledger;
  }

  static async start(servers: BenchServers, folder: string, env?: Record<string, string>): Promise<BenchPlatform> {
    const ledger = await createOpenLedger(folder);
    const platform = await startPlatform({
      project: PROJECT,
      env: {
        ...env,
        RUNYARD_POSTGRES_URL: servers.postgres.address.adminUrl,
        RUNYARD_REDIS_URL: servers.redis.address.url,
        ...namedKafka(servers.kafka.address),
      },
    });
    return new BenchPlatform(platform, ledger);
  }

  get url(): string {
    return this.#platform.url;
  }

  get deploymentUrl(): string {
    return this.#platform.deploymentUrl;
  }

  get headers(): Record<string, string> {
    return { 'x-api-key': this.#platform.apiKey };
  }

  output(): string {
    return this.#platform.output();
  }

  /** Returns the running processes of this name, stopping ones included. */
  async pids(name: ProcessName): Promise<number[]> {
    const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid=,args=']);
    const processes = stdout
      .split('\n')
      .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
      .filter((match) => match !== null)
      .map(([, pid, parent, args]) => ({ pid: Number(pid), parent: Number(parent), args: args ?? '' }));
    const below = new Set([this.#platform.pid]);
    // A parent may be listed after its children: the loop has a round for each generation.
    for (let generation = 0; generation < 6; generation += 1) {
      for (const { pid, parent } of processes) if (below.has(parent)) below.add(pid);
    }
    return processes
      .filter(({ pid, args }) => below.has(pid) && args.includes(`/${name}/dist/main.js`))
      .map(({ pid }) => pid);
  }

  /** Kills all processes of this name. */
  async kill(name: ProcessName, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    for (const pid of await this.pids(name)) process.kill(pid, signal);
  }

  async close(): Promise<void> {
    await this.#platform.stop();
    await this.#platform.remove();
  }
}

/** Creates a ledger in which projects can write, whose code runs as users of their own where the platform is root's. */
async function createOpenLedger(folder: string): Promise<Ledger> {
  const own = await mkdtemp(path.join(folder, 'platform-'));
  const ledger = new Ledger(path.join(own, 'ledger.jsonl'));
  await writeFile(ledger.file, '');
  await chmod(ledger.file, 0o666);
  for (const passed of [folder, own]) await chmod(passed, 0o711);
  return ledger;
}

/**
 * Returns the variables of an external broker, where topics of an installation have a prefix: deployments have the
 * platform's user there too.
 */
function namedKafka(kafka: KafkaServer): Record<string, string> {
  const { KAFKA_BROKERS: brokers = '', ...login } = kafkaVariables(kafka);
  const users = Object.entries(login).flatMap(([name, value]) => [
    [`RUNYARD_${name}`, value],
    [`RUNYARD_DEPLOYMENT_${name}`, value],
  ]);
  return { RUNYARD_KAFKA_BROKERS: brokers, ...Object.fromEntries(users) };
}
