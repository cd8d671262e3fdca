import type {
  AuthenticateRequest,
  Authentication,
  Authorization,
  AuthorizeRequest,
  HostConnection,
  LoadedAuth,
  ProjectExport,
} from '@runyard/host-protocol';
import { type AskedObject, type AskingLimits, HandlerAsker } from './handler-asker.ts';
import { AuthHandlerError } from './handler-errors.ts';

const AUTH: AskedObject = {
  field: 'auth.path',
  load: 'auth.load',
  // A caller waits for a handler; one that takes longer denies.
  timeoutMs: 15_000,
  HandlerError: AuthHandlerError,
};

/** Asks the project's auth object. */
export class AuthRequests {
  readonly #asker: HandlerAsker;

  constructor(connection: HostConnection, limits: AskingLimits) {
    this.#asker = new HandlerAsker(connection, AUTH, limits);
  }

  /** @throws GraphLoadError */
  async load(source: ProjectExport): Promise<LoadedAuth> {
    return (await this.#asker.load(source)) as LoadedAuth;
  }

  /** @throws AuthHandlerError */
  async authenticate({ source, ...request }: AuthenticateRequest): Promise<Authentication> {
    const { ok } = await this.#asker.ask('authenticate', { t: 'auth.authenticate', source, request });
    return ok as Authentication;
  }

  /** @throws AuthHandlerError */
  async authorize({ source, value, ...request }: AuthorizeRequest): Promise<Authorization> {
    const sent = Buffer.from(JSON.stringify(value));
    const handler = `${request.resource}:${request.action}`;
    const answer = await this.#asker.ask(handler, { t: 'auth.authorize', source, request }, [sent]);
    const authorization = answer.ok as Authorization;
    if (authorization.kind !== 'allowed') return authorization;
    // Handlers seldom change a value, which may be large.
    const isUnchanged = sent.equals(answer.raw);
    return { ...authorization, value: isUnchanged ? value : JSON.parse(answer.raw.toString('utf8')) };
  }
}
