/** A host that the suite has started: it sees each message as it is on the wire. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { HostConnection, type Incoming } from '../connection.ts';
import { checksAtParent } from '../messages/checks.ts';
import type { ToHost, ToParent } from '../messages/messages.ts';
import type { GraphDescription, ProjectGraph } from '../messages/project.ts';
import type { ExecutionRequest } from '../messages/runs.ts';
import { MemoryStorage } from './memory-storage.ts';

export interface HostUnderTest {
  /** Starts the host, which finds its connection at file descriptor 3. */
  command: string[];
  /** A project in the language of the host, with the graphs that `docs/services/graph-host-protocol.md` names. */
  project: string;
}

/** Milliseconds after which a host that does not do what is awaited hangs. */
const HANGS_AFTER_MS = 60_000;

type Limits = Partial<ToHost['init']['limits']>;
type Settled = { header: ToParent['run.settled']; values: unknown; interrupts: unknown };

interface FinishedRun extends Settled {
  use: number;
  events: { mode: string; event: string; data: unknown }[];
}

export class TestedHost {
  readonly storage: MemoryStorage;
  /** All that the host has sent, in order. */
  readonly received: Incoming[] = [];
  readonly connection: HostConnection;
  readonly exited: Promise<number | null>;
  /** False when a run may send no more events than it could at its start. */
  givesCredit = true;
  readonly #host: HostUnderTest;
  readonly #process: ChildProcess;
  readonly #lookouts = new Set<() => void>();
  #output = '';
  #uses = 0;

  constructor(host: HostUnderTest, storage = new MemoryStorage()) {
    this.#host = host;
    this.storage = storage;
    const [command = '', ...args] = host.command;
    const env = { PATH: process.env.PATH ?? '' };
    this.#process = spawn(command, args, { cwd: host.project, env, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString('utf8');
      });
    }
    this.exited = new Promise((resolve) => {
      this.#process.once('error', (error) => {
        this.#output += error.message;
        resolve(null);
      });
      this.#process.once('exit', resolve);
    });
    this.connection = new HostConnection({
      socket: this.#process.stdio[3] as unknown as Duplex,
      checks: checksAtParent(),
      onMessage: (message) => this.#receive(message),
      onClose: (_reason, fault) => {
        if (fault !== undefined) this.#output += `it ${fault}\n`;
      },
    });
    void this.exited.then(() => this.#look());
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  /** Waits until something that the host does is so. @throws Error with what it has printed */
  async until<T>(what: string, find: () => T | undefined): Promise<T> {
    const isOver = () => this.#process.exitCode !== null || this.#process.signalCode !== null;
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        this.#lookouts.delete(look);
      };
      const look = () => {
        const found = find();
        if (found === undefined && !isOver()) return;
        end();
        if (found !== undefined) resolve(found);
        else reject(new Error(`the host ended before ${what}\n${this.#output}`));
      };
      const timer = setTimeout(() => {
        end();
        reject(new Error(`no ${what} within ${HANGS_AFTER_MS} ms\n${this.#output}`));
      }, HANGS_AFTER_MS);
      this.#lookouts.add(look);
      look();
    });
  }

  hello(): Promise<ToParent['hello']> {
    return this.until('hello', () => this.received[0]?.header as ToParent['hello'] | undefined);
  }

  /** Loads the project, or other graphs of its folder. */
  async load({ graphs, limits }: { graphs?: ProjectGraph[]; limits?: Limits } = {}): Promise<GraphDescription[]> {
    await this.hello();
    const project = {
      directory: this.#host.project,
      graphs: graphs ?? (await graphsOf(this.#host.project)),
      env: {},
      revivableModules: [],
    };
    const all = {
      creditBytes: 2 ** 20,
      bufferBytes: 2 ** 26,
      eventBytes: 2 ** 27,
      logBytesPerSecond: 2 ** 20,
      ...limits,
    };
    const init = { t: 'init', protocol: 1, project, loopback: null, publicUrl: null, limits: all };
    return (await this.connection.request(0, init)).ok as GraphDescription[];
  }

  /** Starts a run, and returns its number. */
  start(graphId: string, request: Partial<ExecutionRequest> = {}, hasCheckpoints = true): number {
    const use = ++this.#uses;
    const { threadId = randomUUID(), runId = randomUUID() } = request;
    const whole: ExecutionRequest = {
      assistantId: randomUUID(),
      graphId,
      attempt: 1,
      streamModes: ['values'],
      streamSubgraphs: false,
      durability: 'async',
      config: { configurable: { thread_id: threadId, run_id: runId, graph_id: graphId } },
      ...request,
      threadId,
      runId,
    };
    this.connection.send(use, { t: 'run.start', use, hasCheckpoints, request: whole });
    return use;
  }

  async run(graphId: string, request: Partial<ExecutionRequest> = {}, hasCheckpoints = true): Promise<FinishedRun> {
    return this.finish(this.start(graphId, request, hasCheckpoints));
  }

  /** Waits for the end of a run. */
  async finish(use: number): Promise<FinishedRun> {
    const { header: found, raw } = await this.until(`run.settled of run ${use}`, () => this.find('run.settled', use));
    const header = found as unknown as ToParent['run.settled'];
    const { valuesBytes, interruptsBytes } = header;
    const text = (bytes: Buffer) => JSON.parse(bytes.toString('utf8')) as unknown;
    return {
      use,
      header,
      values: valuesBytes === null ? null : text(raw.subarray(0, valuesBytes)),
      interrupts: interruptsBytes === null ? null : text(raw.subarray(raw.byteLength - interruptsBytes)),
      events: this.received.filter(({ header: { t, use: of } }) => t === 'run.events' && of === use).flatMap(eventsIn),
    };
  }

  find(type: string, use: number): Incoming | undefined {
    return this.received.find(({ header }) => header.t === type && header.use === use);
  }

  #receive(message: Incoming): void {
    this.received.push({ header: message.header, raw: Buffer.from(message.raw) });
    const answer = this.storage.answer(message);
    const { id, use = 0 } = message.header;
    if (answer && id !== undefined) this.connection.answer(use, id, answer.ok, answer.raw);
    if (message.header.t === 'run.events' && this.givesCredit) {
      this.connection.send(use, { t: 'run.credit', use, bytes: message.raw.byteLength });
    }
    this.#look();
  }

  #look(): void {
    for (const look of [...this.#lookouts]) look();
  }
}

export function eventsIn({ header, raw }: Incoming): { mode: string; event: string; data: unknown }[] {
  let position = 0;
  return (header as unknown as ToParent['run.events']).events.map(([mode, event, length]) => {
    const data = JSON.parse(raw.toString('utf8', position, position + length)) as unknown;
    position += length;
    return { mode, event, data };
  });
}

async function graphsOf(directory: string): Promise<ProjectGraph[]> {
  const file = JSON.parse(await readFile(join(directory, 'langgraph.json'), 'utf8')) as {
    graphs: Record<string, string>;
  };
  return Object.entries(file.graphs).map(([graphId, source]) => {
    const [path = '', symbol = ''] = source.split(':');
    return { graphId, file: join(directory, path), symbol };
  });
}
