/**
 * HTTP between a graph host and its parent: plain HTTP/1.1 over Unix sockets, so that both ends stream, hold back and hang up
 * as any server does. The headers here are for these sockets alone and are taken off at each end.
 */

/** Opens the loopback: shows that a request comes from the host it was given to. */
export const LOOPBACK_HEADER = 'x-runyard-loopback';
/** Names the request from outside that the app was asked about and that it passes on. Good once. */
export const EXCHANGE_HEADER = 'x-runyard-exchange';
/** How many requests of the project's own code led to this one. */
export const DEPTH_HEADER = 'x-runyard-depth';

/** The id of the run whose code makes the request; none of code that belongs to no run. */
export const RUN_HEADER = 'x-runyard-run';

/** Where a host finds the server of its own deployment. Whoever holds the token acts with the deployment's rights. */
export interface Loopback {
  socketPath: string;
  token: string;
}
