import { isIP } from 'node:net';
import type { Operation } from '@runyard/contracts';
import type { Principal } from '../principal.ts';
import type { HandlerRequest } from './bind.ts';
import { requestIdOf } from './request-id.ts';

/** The caller of a request and where it came from, as audit events name them. */
export interface RequestOrigin {
  actorKind: Principal['kind'];
  /** The identity; null for `internal` and `anonymous`. */
  actorId: string | null;
  /** The person behind the identity; null for service accounts. */
  personId: string | null;
  /** The key or session that was used. */
  credentialId: string | null;
  address: string | null;
  requestId: string;
  /** The operationId of the contract, whichever of its paths was called. */
  operation: string;
  requestMethod: string;
  /** The path with placeholders: values in paths may be secret. */
  requestPath: string;
}

export function requestOrigin(
  { operationId, method, path }: Pick<Operation, 'operationId' | 'method' | 'path'>,
  { caller, headers, raw }: Pick<HandlerRequest, 'caller' | 'headers' | 'raw'>,
): RequestOrigin {
  // The gateway has decided which address is the client's: see `dropUnprovenAddress`. A list is not its word.
  const named = String(headers['x-forwarded-for'] ?? '');
  return {
    actorKind: caller.kind,
    actorId: caller.identity === '' ? null : caller.identity,
    personId: caller.personId ?? null,
    credentialId: caller.keyId ?? caller.sessionId ?? null,
    address: isIP(named) ? named : (raw.socket.remoteAddress ?? null),
    requestId: requestIdOf(raw),
    operation: operationId.replace(/Alias$/, ''),
    requestMethod: method.toUpperCase(),
    requestPath: path,
  };
}
