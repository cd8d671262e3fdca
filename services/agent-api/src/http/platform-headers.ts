import { HANDOFF_HEADER, PRINCIPAL_HEADER } from '@runyard/contracts';
import { EXCHANGE_HEADER, LOOPBACK_HEADER, USER_HEADER } from '@runyard/host-protocol';

/** Headers between parts of the platform, which the project's code must not see or set. */
export const PLATFORM_HEADERS: ReadonlySet<string> = new Set([
  PRINCIPAL_HEADER,
  LOOPBACK_HEADER,
  EXCHANGE_HEADER,
  // An answer that goes through the project cannot be handed off: it would look complete.
  HANDOFF_HEADER,
  USER_HEADER,
]);
