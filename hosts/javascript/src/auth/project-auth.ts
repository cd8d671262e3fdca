/** Asks the `Auth` object of a project (`@langchain/langgraph-sdk/auth`) who calls, and what they may do. */
import {
  type AuthenticateRequest,
  type Authentication,
  type Authorization,
  type AuthorizeRequest,
  type AuthRefusal,
  type AuthUser,
  GraphLoadError,
  type ProjectExport,
} from '@runyard/host-protocol/graph-process';
import { describeLoadFailure } from '../describe-failure.ts';
import { importSymbol } from '../loading/import-symbol.ts';
import { refusalOf } from './http-exception.ts';
import { isPlainObject, requirePlainJson } from './plain-json.ts';

type Handler = (argument: unknown) => unknown;
/** The handlers inside an `Auth` object. The name is the SDK's. */
const HANDLERS = '~handlerCache';

const opened = new Map<string, Promise<ProjectAuth>>();

/** Loads each auth object once, and again after a failure. @throws GraphLoadError */
export function openAuth({ file, symbol }: ProjectExport, directory: string): Promise<ProjectAuth> {
  const name = `${file}:${symbol}`;
  let auth = opened.get(name);
  if (!auth) {
    auth = load({ file, symbol }, directory);
    opened.set(name, auth);
    auth.catch(() => opened.delete(name));
  }
  return auth;
}

async function load(source: ProjectExport, directory: string): Promise<ProjectAuth> {
  const exported = await importSymbol(source, directory).catch((cause) => {
    throw new GraphLoadError(describeLoadFailure('The handler of "auth.path"', cause, directory), { cause });
  });
  const handlers = (exported as Record<string, unknown>)[HANDLERS] as
    | { authenticate?: Handler; callbacks?: Record<string, Handler> }
    | undefined;
  if (typeof handlers !== 'object' || handlers === null) {
    throw new GraphLoadError(
      `The export "${source.symbol}" that "auth.path" names is not an Auth object of @langchain/langgraph-sdk/auth.`,
    );
  }
  const { authenticate, callbacks = {} } = handlers;
  if (typeof authenticate !== 'function') {
    throw new GraphLoadError('The Auth object of "auth.path" has no authenticate handler, so nobody could call.');
  }
  return new ProjectAuth(authenticate, new Map(Object.entries(callbacks)));
}

export class ProjectAuth {
  readonly #authenticate: Handler;
  readonly #callbacks: Map<string, Handler>;

  constructor(authenticate: Handler, callbacks: Map<string, Handler>) {
    this.#authenticate = authenticate;
    this.#callbacks = callbacks;
  }

  get events(): string[] {
    return [...this.#callbacks.keys()];
  }

  /** @throws what the handler throws, unless it is an `HTTPException`; TypeError when it returns no user */
  async authenticate({ method, url, headers }: Omit<AuthenticateRequest, 'source'>): Promise<Authentication> {
    const answer = await askHandler(this.#authenticate, new Request(url, { method, headers }));
    if ('refusal' in answer) return { kind: 'refused', refusal: answer.refusal };
    const user = toUser(answer.result);
    if (user) return { kind: 'user', user };
    return { kind: 'refused', refusal: { status: 401, detail: 'Unauthorized', headers: {} } };
  }

  /** @throws what the handler throws, unless it is an `HTTPException`; TypeError when it returns nonsense */
  async authorize(request: Omit<AuthorizeRequest, 'source'>): Promise<Authorization> {
    const { resource, action, user, value } = request;
    const handler = this.#handlerOf(resource, action);
    if (!handler) return { kind: 'allowed', filter: null, value };
    const { permissions } = user;
    const context = { event: `${resource}:${action}`, resource, action, value, user, permissions };
    const answer = await askHandler(handler, context);
    if ('refusal' in answer) return { kind: 'refused', refusal: answer.refusal };
    if (answer.result === false) return { kind: 'denied' };
    if (!isPlainObject(context.value)) throw new TypeError('the handler replaced the value by something else');
    requirePlainJson(context.value, 'value');
    return { kind: 'allowed', filter: toFilter(answer.result), value: context.value };
  }

  /** Returns the most specific handler; one alone runs. */
  #handlerOf(resource: string, action: string): Handler | undefined {
    const names = [`${resource}:${action}`, resource, `*:${action}`, '*'];
    const name = names.find((each) => this.#callbacks.has(each));
    return name === undefined ? undefined : this.#callbacks.get(name);
  }
}

async function askHandler(
  handler: Handler,
  argument: unknown,
): Promise<{ result: unknown } | { refusal: AuthRefusal }> {
  try {
    return { result: await handler(argument) };
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal) return { refusal };
    throw error;
  }
}

/** Returns undefined for a user without an identity. */
function toUser(result: unknown): AuthUser | undefined {
  if (result === undefined || result === null || result === '') return undefined;
  if (typeof result === 'string') {
    return { identity: result, display_name: result, is_authenticated: true, permissions: [] };
  }
  if (typeof result !== 'object' || Array.isArray(result)) {
    throw new TypeError('the authenticate handler returned neither a string nor a user');
  }
  const given = JSON.parse(JSON.stringify(result)) as Partial<AuthUser>;
  const { identity, display_name: displayName = identity, is_authenticated = true, permissions = [] } = given;
  if (typeof identity !== 'string' || identity === '') return undefined;
  if (!Array.isArray(permissions) || !permissions.every((each) => typeof each === 'string')) {
    throw new TypeError('the permissions of the user are no list of strings');
  }
  return {
    ...given,
    identity,
    display_name: String(displayName),
    is_authenticated: is_authenticated === true,
    permissions,
  };
}

function toFilter(result: unknown): Record<string, unknown> | null {
  if (result === undefined || result === null || result === true) return null;
  if (!isPlainObject(result)) throw new TypeError('the handler returned neither a boolean nor a filter');
  requirePlainJson(result, 'filter');
  return result;
}
