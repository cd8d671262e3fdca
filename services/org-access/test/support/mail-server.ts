import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

interface Login {
  user: string;
  password: string;
}

/** A real mail server on this machine, which keeps what it takes. */
export class TestMailServer {
  /** Raw messages, the oldest first. */
  readonly messages: { to: string; raw: string }[] = [];
  /** Answers of the next attempts instead of taking them: 4xx for later, 5xx for never. */
  readonly refusals: number[] = [];
  readonly #server: SMTPServer;
  #onMessage = () => undefined as unknown;

  readonly #login: Login | undefined;

  private constructor(login: Login | undefined) {
    this.#login = login;
    this.#server = new SMTPServer({
      authOptional: login === undefined,
      allowInsecureAuth: true,
      disabledCommands: ['STARTTLS'],
      onAuth: ({ username, password }, _session, callback) => {
        const isRight = username === login?.user && password === login?.password;
        callback(isRight ? null : new Error('wrong login'), { user: username });
      },
      onRcptTo: (_address, _session, callback) => {
        const responseCode = this.refusals.shift();
        callback(responseCode ? Object.assign(new Error('not now'), { responseCode }) : undefined);
      },
      onData: (stream, session, callback) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const to = session.envelope.rcptTo.map(({ address }) => address).join();
          this.messages.push({ to, raw: decode(Buffer.concat(chunks).toString()) });
          callback();
          this.#onMessage();
        });
      },
    });
    this.#server.on('error', () => undefined);
  }

  /** @param options.login what it requires; default: nothing */
  static async start(port = 0, { login }: { login?: Login } = {}): Promise<TestMailServer> {
    const server = new TestMailServer(login);
    server.#server.listen(port, '127.0.0.1');
    await once(server.#server.server, 'listening');
    return server;
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port;
  }

  get url(): string {
    const login = this.#login ? `${this.#login.user}:${this.#login.password}@` : '';
    return `smtp://${login}127.0.0.1:${this.port}`;
  }

  /** Resolves with the first message to an address, now or when it comes. */
  async messageTo(address: string): Promise<string> {
    for (;;) {
      const found = this.messages.find(({ to }) => to === address);
      if (found) return found.raw;
      await new Promise((resolve) => {
        this.#onMessage = () => resolve(undefined);
      });
    }
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(resolve));
  }
}

/** Joins the lines that the encoding of a message splits. */
function decode(raw: string): string {
  return raw.replaceAll('=\r\n', '').replaceAll('=3D', '=');
}
