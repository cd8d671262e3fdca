/**
 * Gives each call of a model or tool the handler of the run that it belongs to. A handler among the callbacks of the graph
 * would be carried along all its chains, each of which then costs ten times as much as without any.
 */

/** Returns the callbacks of a call: the ones of what calls it, and the call's own. The last argument is `{verbose}`. */
type Configure = (...args: unknown[]) => unknown;
type Handlers = object[] | { handlers: object[] } | undefined;

/** The module `@langchain/core/callbacks/manager`. */
export interface ManagerModule {
  CallbackManager: { configure: Configure };
}

/** The positions of the call's own handlers, and of `{verbose}`, which models and tools give, and chains do not. */
const [OWN, OPTIONS] = [1, 6];

const watched = new WeakSet<object>();

/**
 * @param module of one copy of `@langchain/core`; it may be given again
 * @param handlerOf returns the handler of the run whose code calls it; undefined outside of any
 */
export function watchCalls({ CallbackManager }: ManagerModule, handlerOf: () => object | undefined): void {
  if (watched.has(CallbackManager)) return;
  watched.add(CallbackManager);
  const configure = CallbackManager.configure;
  CallbackManager.configure = function (this: unknown, ...args: unknown[]): unknown {
    const handler = args[OPTIONS] === undefined ? undefined : handlerOf();
    // Calls within this one come here, too: the handler need not be inherited.
    if (handler) args[OWN] = [...listOf(args[OWN] as Handlers), handler];
    return configure.apply(this, args);
  };
}

function listOf(handlers: Handlers): object[] {
  if (handlers === undefined) return [];
  return Array.isArray(handlers) ? handlers : handlers.handlers;
}
