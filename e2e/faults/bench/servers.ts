import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openSupervisor, type Servers, type Supervisor, startInfrastructure } from '@runyard/local-infra';

type ServerName = keyof Servers;
type SupervisedProcess = Awaited<ReturnType<Supervisor['start']>>;

const PROCESS_NAMES = { postgres: 'Postgres', redis: 'Redis', kafka: 'Kafka' } as const;

/** A server of the bench's own, which can be killed, stopped, emptied and started again on the same port. */
class BenchServer<Name extends ServerName = ServerName> {
  readonly name: Name;
  readonly #dataDir: string;
  readonly #supervisor: Supervisor;
  readonly #isKafkaOpen: boolean;
  #process: SupervisedProcess | undefined;
  #address: Servers[Name] | undefined;

  /** @param isKafkaOpen whether a broker admits everybody, without a login */
  constructor(name: Name, dataDir: string, supervisor: Supervisor, isKafkaOpen = false) {
    this.#isKafkaOpen = isKafkaOpen;
    this.name = name;
    this.#dataDir = dataDir;
    this.#supervisor = supervisor;
  }

  get isUp(): boolean {
    return this.#process !== undefined && this.#process.ended === null;
  }

  get pid(): number {
    if (!this.#process) throw new Error(`${this.name} was never started`);
    return this.#process.pid;
  }

  /** Its address; the same after every start. */
  get address(): NonNullable<Servers[Name]> {
    if (!this.#address) throw new Error(`${this.name} was never started`);
    return this.#address;
  }

  /** Resolves when it answers. Does nothing while it is up. */
  async start(): Promise<void> {
    if (this.isUp) return;
    // Servers that the caller's environment names are not the bench's: no fault may reach them.
    const environment = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith('RUNYARD_')),
    );
    const supervisor: Supervisor = {
      ...this.#supervisor,
      start: async (options) => {
        const started = await this.#supervisor.start(options);
        if (options.name === PROCESS_NAMES[this.name]) this.#process = started;
        return started;
      },
    };
    const servers = await startInfrastructure({
      dataDir: this.#dataDir,
      supervisor,
      servers: [this.name],
      requireKafka: true,
      isKafkaOpen: this.#isKafkaOpen,
      environment,
    });
    this.#address = servers[this.name] as Servers[Name];
  }

  /**
   * Resolves when the process has ended. Postgres takes SIGQUIT as "immediate": it sends no goodbye and writes no
   * checkpoint.
   */
  async kill(signal: NodeJS.Signals = this.name === 'postgres' ? 'SIGQUIT' : 'SIGKILL'): Promise<void> {
    if (!this.#process || this.#process.ended) return;
    process.kill(this.#process.pid, signal);
    await this.#process.exited;
  }

  /** Suspends it: connections stay, and nothing is answered. */
  pause(): void {
    process.kill(this.pid, 'SIGSTOP');
  }

  resume(): void {
    process.kill(this.pid, 'SIGCONT');
  }

  /** Removes all data of a server that is down. */
  async wipe(): Promise<void> {
    if (this.isUp) throw new Error(`${this.name} is still up`);
    await rm(join(this.#dataDir, this.name), { recursive: true, force: true });
  }
}

export interface BenchServers {
  postgres: BenchServer<'postgres'>;
  redis: BenchServer<'redis'>;
  kafka: BenchServer<'kafka'>;
  /**
   * A broker that admits everybody, for services of a release from before brokers had users. It starts when a goal
   * first needs it.
   */
  openKafka: BenchServer<'kafka'>;
  /** Starts the servers that are down, so that the next goal finds all three. */
  heal(): Promise<void>;
  close(): Promise<void>;
}

export async function openServers(dataDir: string): Promise<BenchServers> {
  const supervisor = await openSupervisor(dataDir);
  const servers = {
    postgres: new BenchServer('postgres', dataDir, supervisor),
    redis: new BenchServer('redis', dataDir, supervisor),
    kafka: new BenchServer('kafka', dataDir, supervisor),
  };
  const openDir = join(dataDir, 'open-kafka');
  const openSupervised = await openSupervisor(openDir);
  return {
    ...servers,
    openKafka: new BenchServer('kafka', openDir, openSupervised, true),
    heal: async () => void (await Promise.all(Object.values(servers).map((server) => server.start()))),
    close: async () => void (await Promise.all([supervisor.close(), openSupervised.close()])),
  };
}
