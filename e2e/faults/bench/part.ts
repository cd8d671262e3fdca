import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { FaultLine, freePort, startServiceProcess, type TestServiceProcess, waitFor } from '@runyard/test-kit';

const repository = path.resolve(import.meta.dirname, '../../..');

/** Milliseconds that a part may take to get ready, also on a busy machine. */
const READY_MS = 60_000;

export type ServiceName =
  | 'agent-api'
  | 'run-worker'
  | 'gateway'
  | 'control-plane'
  | 'data-plane'
  | 'builder'
  | 'org-access'
  | 'registry'
  | 'oauth-broker'
  | 'run-history';

export interface PartOptions {
  service: ServiceName;
  env: Record<string, string>;
  /** Addresses of servers by variable; the part reaches each over a fault line of its own. */
  servers: { DATABASE_URI: string; REDIS_URI: string };
  /** The checkout whose built services are run. Default: this one. */
  checkout?: string;
  /**
   * True when it bypasses the fault lines, which take time of the process that makes the load. Nothing can be cut then.
   */
  isDirect?: boolean;
}

/** A process of the deployment under test, which can be killed, frozen, stopped and started again on its port. */
export class Part {
  readonly service: ServiceName;
  readonly lines: { postgres: FaultLine; redis: FaultLine };
  readonly port: number;
  readonly #options: PartOptions;
  #process: TestServiceProcess | undefined;
  #isUp = false;
  /** Counts starts and kills: a start that was killed meanwhile has not failed. */
  #turn = 0;
  #starting: Promise<void> = Promise.resolve();
  /** The output of earlier processes of this part. */
  #earlierOutput = '';

  private constructor(options: PartOptions, port: number, lines: Part['lines']) {
    this.service = options.service;
    this.port = port;
    this.lines = lines;
    this.#options = options;
  }

  static async create(options: PartOptions): Promise<Part> {
    const [port, postgres, redis] = await Promise.all([
      freePort(),
      FaultLine.to(options.servers.DATABASE_URI),
      FaultLine.to(options.servers.REDIS_URI),
    ]);
    return new Part(options, port, { postgres, redis });
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    if (!this.#process) throw new Error(`${this.service} was never started`);
    return this.#process.pid;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Returns the output of all its processes. */
  output(): string {
    return this.#earlierOutput + (this.#process?.output() ?? '');
  }

  /** Resolves when it is ready, or in the state of `until`; also when it was killed before that. */
  start({ until = 'ready' }: { until?: 'ready' | 'live' | 'spawned' } = {}): Promise<void> {
    if (this.#isUp) return this.#starting;
    this.#isUp = true;
    this.#turn += 1;
    this.#starting = this.#start({ ready: '/ok?check_db=1', live: '/ok', spawned: null }[until], this.#turn);
    // A failed start that nobody awaits shows when nothing works.
    this.#starting.catch(() => undefined);
    return this.#starting;
  }

  async #start(readyPath: string | null, turn: number): Promise<void> {
    const { service, env, servers, checkout = repository, isDirect } = this.#options;
    const overLines = { DATABASE_URI: this.lines.postgres.url, REDIS_URI: this.lines.redis.url };
    const wasKilled = () => this.#turn !== turn;
    this.#earlierOutput = this.output();
    const started = await startServiceProcess({
      entry: path.join(checkout, 'services', service, 'dist/main.js'),
      env: { ...env, PORT: String(this.port) },
      secrets: isDirect ? servers : { ...servers, ...overLines },
      readyPath: null,
    });
    this.#process = started;
    let hasEnded = false;
    void started.exited.then(() => {
      hasEnded = true;
      if (this.#process === started) this.#isUp = false;
    });
    if (readyPath === null) return;
    await waitFor(
      async () =>
        wasKilled() || hasEnded || (await fetch(this.url + readyPath, { signal: AbortSignal.timeout(5_000) })).ok,
      { timeoutMs: READY_MS, what: `${readyPath} of ${service}` },
    );
    if (hasEnded && !wasKilled()) throw new Error(`${service} ended instead of getting ready:\n${this.output()}`);
  }

  /** Resolves when the process has ended. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    const started = this.#process;
    if (!started) throw new Error(`${this.service} was never started`);
    this.#turn += 1;
    if (this.#isUp) process.kill(started.pid, signal);
    const end = await started.exited;
    if (this.#process === started) this.#isUp = false;
    return end;
  }

  /** Freezes the process as it is. */
  pause(): void {
    process.kill(this.pid, 'SIGSTOP');
  }

  resume(): void {
    process.kill(this.pid, 'SIGCONT');
  }

  /** Sends SIGTERM, and resolves with how the process ended. */
  stop(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    return this.kill('SIGTERM');
  }

  /** Returns whether it reports that it is ready. */
  async isReady(): Promise<boolean> {
    return fetch(`${this.url}/ok?check_db=1`, { signal: AbortSignal.timeout(5_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  /** Returns the process's resident memory in bytes. */
  async residentBytes(): Promise<number> {
    const status = await readFile(`/proc/${this.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.lines).map((line) => line.heal()));
    if (this.#isUp) {
      this.resume();
      await this.kill();
    }
    await Promise.all(Object.values(this.lines).map((line) => line.close()));
  }
}
