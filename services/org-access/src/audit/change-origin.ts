import { AsyncLocalStorage } from 'node:async_hooks';
import { type BoundOperation, type Principal, requestOrigin } from '@runyard/service-kit';

/** The origin of a change: its actor, and where the request came from. */
export interface ChangeOrigin {
  actorKind: ActorKind;
  /** The identity or the person; null for `system`, `internal` and `anonymous`. */
  actorId: string | null;
  /** The person behind the identity; null for service accounts. */
  personId: string | null;
  /** The key, session or SCIM token that the actor used. */
  credentialId: string | null;
  address: string | null;
  requestId: string | null;
  /** The operationId of the contract, whichever of its paths was called. */
  operation: string | null;
  requestMethod: string | null;
  /** The path with placeholders: values in paths may be secret. */
  requestPath: string | null;
}

type ActorKind = Principal['kind'] | 'person' | 'scim' | 'system';

/** A change that the service makes by itself, for example when something expires. */
const SYSTEM: ChangeOrigin = {
  actorKind: 'system',
  actorId: null,
  personId: null,
  credentialId: null,
  address: null,
  requestId: null,
  operation: null,
  requestMethod: null,
  requestPath: null,
};

const origins = new AsyncLocalStorage<ChangeOrigin>();

/** Returns the origin of what is being done: the request under way, or the service itself. */
export function changeOrigin(): ChangeOrigin {
  return origins.getStore() ?? SYSTEM;
}

/** Runs work whose changes are those of someone whom no principal token names, such as a person who just signed in. */
export function actAs<T>(actor: Pick<ChangeOrigin, 'actorKind' | 'actorId' | 'credentialId'>, work: () => T): T {
  const personId = actor.actorKind === 'person' ? actor.actorId : null;
  return origins.run({ ...changeOrigin(), ...actor, personId }, work);
}

/** Runs work that records what somebody did at another service. */
export function recordFrom<T>(origin: ChangeOrigin, work: () => T): T {
  return origins.run(origin, work);
}

/** Middleware: changes that a handler makes are recorded as those of its caller. */
export function withChangeOrigin({ operation, handler }: BoundOperation): BoundOperation {
  return { operation, handler: (request) => origins.run(requestOrigin(operation, request), () => handler(request)) };
}
