import type { TObject, TSchema } from 'typebox';
import { defineOperation, type Operation, type OperationResponse } from './operation.ts';

/** The request header by which a creation that is asked for again is known. Lower case, as Node has it. */
export const IDEMPOTENCY_KEY_HEADER = 'idempotency-key';
/** The response header that says: this was made by an earlier request with the same key. */
export const REPLAYED_HEADER = 'idempotent-replayed';
export const IDEMPOTENCY_KEY_LENGTH_MAX = 255;

const KEY = `A name for this creation, 1 to ${IDEMPOTENCY_KEY_LENGTH_MAX} printable ASCII characters. Sent again with the same key within a day, the request makes nothing new and is answered as the first time; another request with the key is 422.`;
const REPLAYED = '`true` when an earlier request with the same `Idempotency-Key` made it.';

/**
 * An operation that creates something, once for each key of a caller. Keys of one group share their names: the same key in
 * another operation of the group is another request and refused.
 */
export function defineCreation<const Params extends TObject, const Query extends TObject, const Body extends TSchema>(
  group: string,
  operation: Operation<Params, Query, Body>,
): Operation<Params, Query, Body> {
  return defineOperation({
    ...operation,
    idempotencyGroup: group,
    headers: { ...operation.headers, [IDEMPOTENCY_KEY_HEADER]: KEY },
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
