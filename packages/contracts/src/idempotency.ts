import type { TObject, TSchema } from 'typebox';
import { defineOperation, type Operation, type OperationResponse } from './operation.ts';

/** The request header that identifies a repeated creation. In lower case, as in Node. */
export const IDEMPOTENCY_KEY_HEADER = 'idempotency-key';
/** The response header of an answer that an earlier request with the same key created. */
export const REPLAYED_HEADER = 'idempotent-replayed';
export const IDEMPOTENCY_KEY_LENGTH_MAX = 255;

const KEY = `A name for this creation, 1 to ${IDEMPOTENCY_KEY_LENGTH_MAX} printable ASCII characters. Sent again with the same key within a day, the request makes nothing new and is answered as the first time; another request with the key is 422.`;
const REPLAYED = '`true` when an earlier request with the same `Idempotency-Key` made it.';

/**
 * Defines an operation that creates something once for each idempotency key of a caller. The operations of a group
 * share their keys' names: the same key in another operation of the group is a different request, and is refused.
 */
export function defineCreation<const Params extends TObject, const Query extends TObject, const Body extends TSchema>(
  group: string,
  operation: Operation<Params, Query, Body>,
): Operation<Params, Query, Body> {
  return defineOperation({
    ...operation,
    idempotencyGroup: group,
    headers: { [IDEMPOTENCY_KEY_HEADER]: KEY, ...operation.headers },
    responses: Object.fromEntries(
      Object.entries(operation.responses).map(([status, response]) => [
        status,
        Number(status) < 300 ? tellingReplays(response) : response,
      ]),
    ),
  });
}

function tellingReplays(response: OperationResponse): OperationResponse {
  return { ...response, headers: { ...response.headers, 'Idempotent-Replayed': REPLAYED } };
}
