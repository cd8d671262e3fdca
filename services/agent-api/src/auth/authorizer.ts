import type { GraphHost, ProjectExport } from '@runyard/graph-host';
import { ForbiddenError, INTERNAL, type Principal } from '@runyard/service-kit';
import { type Scope, UNRESTRICTED } from '../access/scope.ts';
import { askProject, ProjectRefusalError } from './auth-answers.ts';
import { compileFilter } from './auth-filter.ts';
import { userOf } from './user-caller.ts';

/** The scope of a caller, and the request as the project's handler left it. */
export interface Authorized<Value> {
  scope: Scope;
  /** Unchecked: a handler may have put anything there. */
  value: Value;
}

type AuthHost = Pick<GraphHost, 'loadAuth' | 'authorize'>;

export interface AuthorizerOptions {
  source: ProjectExport;
  host: { requireRunning(): Promise<AuthHost> };
}

/** Asks the project's handlers what a user may do. */
export class Authorizer {
  readonly #options: AuthorizerOptions;
  /** The events with a handler, by host: a new process loads the code again. */
  readonly #events = new WeakMap<AuthHost, Promise<ReadonlySet<string>>>();

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
    resource: string,
    action: string,
    value: Value,
  ): Promise<Authorized<Value>> {
    const user = userOf(caller);
    if (user === undefined && caller.kind === INTERNAL.kind) return { scope: UNRESTRICTED, value };
    if (user === undefined) throw new ForbiddenError('Forbidden', { code: 'denied_by_project' });
    const { source, host } = this.#options;
    const running = await host.requireRunning();
    const events = await this.#eventsOf(running);
    const names = [`${resource}:${action}`, resource, `*:${action}`, '*'];
    if (!names.some((name) => events.has(name))) return { scope: UNRESTRICTED, value };
    const answer = await askProject(() => running.authorize({ source, resource, action, user, value }));
    if (answer.kind === 'refused') throw new ProjectRefusalError(answer.refusal);
    if (answer.kind === 'denied') throw new ForbiddenError('Forbidden', { code: 'denied_by_project' });
    const scope = answer.filter === null ? UNRESTRICTED : compileFilter(answer.filter);
    return { scope, value: answer.value as Value };
  }

  #eventsOf(host: AuthHost): Promise<ReadonlySet<string>> {
    let events = this.#events.get(host);
    if (!events) {
      events = host.loadAuth(this.#options.source).then((loaded) => new Set(loaded.events));
      this.#events.set(host, events);
      events.catch(() => this.#events.delete(host));
    }
    return events;
  }
}
