import type { GraphHost } from '@runyard/host-client';
import type { ProjectExport } from '@runyard/host-protocol';
import { ForbiddenError, INTERNAL, type Principal, UnavailableError } from '@runyard/service-kit';
import { type Scope, UNRESTRICTED } from '../access/scope.ts';
import { askProject, ProjectRefusalError } from './auth-answers.ts';
import { type AskedEvent, handlerNamesOf } from './auth-events.ts';
import { compileFilter } from './auth-filter.ts';
import { type FindAssistantId, withCanonicalIds } from './canonical-ids.ts';
import { userOf } from './user-caller.ts';

/** The scope of a caller, and the request as the project's handler left it. */
export interface Authorized<Value> {
  scope: Scope;
  /** Unchecked: a handler may have put anything there. The same object when it changed nothing. */
  value: Value;
}

type AuthHost = Pick<GraphHost, 'loadAuth' | 'authorize'>;

export interface AuthorizerOptions {
  source: ProjectExport;
  findAssistantId: FindAssistantId;
  host: { requireRunning(): Promise<AuthHost> };
}

/** Asks the project's handlers what a user may do. */
export class Authorizer {
  readonly #options: AuthorizerOptions;
  /** The names of the handlers, by host: a new process loads the code again. */
  readonly #handlers = new WeakMap<AuthHost, Promise<ReadonlySet<string>>>();

  constructor(options: AuthorizerOptions) {
    this.#options = options;
  }

  /**
   * The project's own code is not asked about: it has the deployment's rights. Any other caller without a user is
   * refused, so that a way past authentication opens nothing.
   *
   * @throws ProjectRefusalError, ForbiddenError, AuthFilterError, AuthHandlerError, UnavailableError
   */
  async authorize<Value extends Record<string, unknown>>(
    caller: Principal,
    event: AskedEvent,
    value: Value,
  ): Promise<Authorized<Value>> {
    const user = userOf(caller);
    if (user === undefined && caller.kind === INTERNAL.kind) return { scope: UNRESTRICTED, value };
    if (user === undefined) throw new ForbiddenError('Forbidden', { code: 'denied_by_project' });
    const { source, findAssistantId, host } = this.#options;
    const running = await host.requireRunning();
    const handlers = await this.#handlersOf(running).catch(reportUnloaded);
    if (!handlerNamesOf(event).some((name) => handlers.has(name))) return { scope: UNRESTRICTED, value };
    const [resource, action] = event.split(':') as [string, string];
    const shown = withCanonicalIds(value, findAssistantId);
    const answer = await askProject(() => running.authorize({ source, resource, action, user, value: shown }));
    if (answer.kind === 'refused') throw new ProjectRefusalError(answer.refusal);
    if (answer.kind === 'denied') throw new ForbiddenError('Forbidden', { code: 'denied_by_project' });
    const scope = answer.filter === null ? UNRESTRICTED : compileFilter(answer.filter);
    return { scope, value: answer.value === shown ? value : (answer.value as Value) };
  }

  /** Loads the project's auth object and returns the names of its handlers. @throws GraphLoadError, UnavailableError */
  async load(): Promise<ReadonlySet<string>> {
    return this.#handlersOf(await this.#options.host.requireRunning());
  }

  #handlersOf(host: AuthHost): Promise<ReadonlySet<string>> {
    let handlers = this.#handlers.get(host);
    if (!handlers) {
      handlers = host.loadAuth(this.#options.source).then((loaded) => new Set(loaded.events));
      this.#handlers.set(host, handlers);
      handlers.catch(() => this.#handlers.delete(host));
    }
    return handlers;
  }
}

/** The object was loaded when the server started: its new process ended, or found something else away. */
function reportUnloaded(cause: unknown): never {
  throw new UnavailableError('The project cannot be loaded at the moment', {
    code: 'project_not_loaded',
    cause,
    retryAfterSeconds: 5,
  });
}
