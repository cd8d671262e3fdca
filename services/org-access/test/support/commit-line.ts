import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Statements that change something; those of locks and reads do not. */
const CHANGES = /\b(INSERT INTO|UPDATE|DELETE FROM)\b/i;
/** The service stores these beside any request: events on their way, leases, times of last use, counts of attempts. */
const BESIDE_REQUESTS =
  /\b"?(outbox|email_outbox|duty|sign_in_throttle|audit_key|audit_checkpoint)"?\b|last_(used|seen)_at = used/i;
const DONE = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

/** The statements of one connection, read from what a client sends to Postgres. */
class StatementReader {
  #rest = Buffer.alloc(0);
  #hasStarted = false;

  /** Returns the whole messages of a piece of data, each with its statement if it has one. */
  read(data: Buffer): { bytes: Buffer; sql: string | undefined }[] {
    this.#rest = Buffer.concat([this.#rest, data]);
    const messages: { bytes: Buffer; sql: string | undefined }[] = [];
    for (;;) {
      // The first message of a connection has no type.
      const header = this.#hasStarted ? 1 : 0;
      if (this.#rest.length < header + 4) return messages;
      const end = header + this.#rest.readInt32BE(header);
      if (this.#rest.length < end) return messages;
      const bytes = this.#rest.subarray(0, end);
      this.#rest = this.#rest.subarray(end);
      messages.push({ bytes, sql: this.#hasStarted ? statementIn(bytes) : undefined });
      this.#hasStarted = true;
    }
  }
}

/** Returns the text of a `Query` or `Parse` message. */
function statementIn(message: Buffer): string | undefined {
  const type = String.fromCharCode(message[0]!);
  const texts = message.subarray(5).toString('utf8').split('\0');
  return type === 'Q' ? texts[0] : type === 'P' ? texts[1] : undefined;
}

/**
 * A line to Postgres that counts the commits of changes, and stops at one of them: what comes before a commit is undone
 * with it, so these are the steps between which a killed service may leave something half done.
 */
export class CommitLine {
  readonly #server: Server;
  readonly #target: URL;
  readonly #sockets = new Set<Socket>();
  #commits = 0;
  #stop: { before: number; reached(): void } | undefined;

  private constructor(server: Server, target: URL) {
    this.#server = server;
    this.#target = target;
  }

  static async to(target: string): Promise<CommitLine> {
    const server = createServer((client) => line.#serve(client));
    const line = new CommitLine(server, new URL(target));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return line;
  }

  get url(): string {
    const url = new URL(this.#target);
    url.hostname = '127.0.0.1';
    url.port = String((this.#server.address() as { port: number }).port);
    return url.href;
  }

  /** Returns how many changes some work commits. */
  async countCommits(work: () => Promise<unknown>): Promise<number> {
    this.#commits = 0;
    await work();
    return this.#commits;
  }

  /**
   * Passes so many commits on and then nothing more, not even the last one's answer. Resolves when it has come to that.
   */
  stopAfter(commits: number): Promise<void> {
    this.#commits = 0;
    return new Promise((reached) => {
      this.#stop = { before: commits + 1, reached };
    });
  }

  /** Passes everything on again, for new connections. */
  resume(): void {
    this.#stop = undefined;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #serve(client: Socket): void {
    const server = connect(Number(this.#target.port), this.#target.hostname);
    const reader = new StatementReader();
    let isInTransaction = false;
    let hasChanges = false;
    let isHeld = false;
    let isLast = false;
    let answered = Buffer.alloc(0);
    const hold = () => {
      isHeld = true;
      this.#stop?.reached();
    };
    /** Returns whether a statement makes changes last. */
    const commits = (sql: string): boolean => {
      const isChange = CHANGES.test(sql) && !BESIDE_REQUESTS.test(sql);
      if (/^BEGIN/i.test(sql)) [isInTransaction, hasChanges] = [true, false];
      else if (/^(COMMIT|ROLLBACK)/i.test(sql)) {
        isInTransaction = false;
        return /^COMMIT/i.test(sql) && hasChanges;
      } else if (isInTransaction) hasChanges ||= isChange;
      return !isInTransaction && isChange;
    };
    client.on('data', (data) => {
      for (const { bytes, sql } of reader.read(data)) {
        if (isHeld) return;
        if (sql !== undefined && commits(sql)) {
          this.#commits += 1;
          if (this.#stop && this.#commits >= this.#stop.before) return hold();
          isLast = this.#stop !== undefined && this.#commits === this.#stop.before - 1;
        }
        server.write(bytes);
      }
    });
    server.on('data', (data) => {
      if (isHeld) return;
      // The answer to the last commit that passes is held back: nobody has acknowledged anything then.
      if (!isLast) return void client.write(data);
      answered = Buffer.concat([answered, data]);
      if (answered.subarray(-DONE.length).equals(DONE)) hold();
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => one.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }
}
