import {
  type Answer,
  type AuthenticateRequest,
  type Authentication,
  type Authorization,
  type AuthorizeRequest,
  type HostConnection,
  type LoadedAuth,
  type ProjectExport,
  RemoteError,
  type RequestHeader,
} from '@runyard/host-protocol';
import { AuthHandlerError } from './handler-errors.ts';
import { inTime } from './in-time.ts';
import { loadField } from './loading.ts';

/** Milliseconds. A caller waits for a handler; one that takes longer denies. */
const TIMEOUT_MS = 15_000;

/** Asks the project's auth object. Whatever is not a clear answer is an error, so that it cannot allow anything. */
export class AuthRequests {
  readonly #connection: HostConnection;
  readonly #loadMs: number;
  readonly #timeoutMs: number;

  /** @param loadMs milliseconds that loading the object may take */
  constructor(connection: HostConnection, loadMs: number, timeoutMs = TIMEOUT_MS) {
    this.#connection = connection;
    this.#loadMs = loadMs;
    this.#timeoutMs = timeoutMs;
  }

  /** @throws GraphLoadError */
  async load({ file, symbol }: ProjectExport): Promise<LoadedAuth> {
    const loading = this.#connection.request(0, { t: 'auth.load', source: { file, symbol } });
    return (await loadField(loading, 'auth.path', this.#loadMs)).ok as LoadedAuth;
  }

  /** @throws AuthHandlerError */
  async authenticate({ source: { file, symbol }, ...request }: AuthenticateRequest): Promise<Authentication> {
    const { ok } = await this.#ask('authenticate', { t: 'auth.authenticate', source: { file, symbol }, request });
    return ok as Authentication;
  }

  /** @throws AuthHandlerError */
  async authorize({ source: { file, symbol }, value, ...request }: AuthorizeRequest): Promise<Authorization> {
    const sent = Buffer.from(JSON.stringify(value));
    const header = { t: 'auth.authorize', source: { file, symbol }, request };
    const answer = await this.#ask(`${request.resource}:${request.action}`, header, [sent]);
    const authorization = answer.ok as Authorization;
    if (authorization.kind !== 'allowed') return authorization;
    // Handlers seldom change a value, which may be large.
    const isUnchanged = sent.equals(answer.raw);
    return { ...authorization, value: isUnchanged ? value : JSON.parse(answer.raw.toString('utf8')) };
  }

  async #ask(handler: string, header: RequestHeader, raw?: Uint8Array[]): Promise<Answer> {
    const late = () => new AuthHandlerError('late', handler, `no answer in ${this.#timeoutMs / 1000} s`);
    try {
      return await inTime(this.#connection.request(0, header, raw), this.#timeoutMs, late);
    } catch (cause) {
      if (!(cause instanceof RemoteError)) throw cause;
      const reason = cause.kind === 'gone' ? 'gone' : 'failed';
      throw new AuthHandlerError(reason, handler, `${cause.name}: ${cause.message}`, { cause });
    }
  }
}
