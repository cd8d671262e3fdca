/**
 * Creations that may be repeated, after a lost answer or several at once, and are executed once.
 *
 * - `openIdempotencyKeys`: a service's keys; `bindCreation`: an operation that creates, with them.
 * - `withIdempotencyKey`: work of a Prisma transaction under the key of its request.
 * - `claimKey`, `claimKeys`, `settleKeys`, `releaseKeys`: the same for transactions of `pg`.
 */
export { type AskedCreation, bindCreation, type Creation, IdempotencyKeys } from './idempotency-keys.ts';
export { claimKey, claimKeys, KeyTakenError, onPg, releaseKeys, settleKeys } from './key-claims.ts';
export { boundFor, type KeyedRequest } from './keyed-request.ts';
export { openIdempotencyKeys } from './open-idempotency-keys.ts';
export { withIdempotencyKey } from './with-idempotency-key.ts';
