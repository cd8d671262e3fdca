/**
 * HTTP between a graph host and its parent is plain HTTP/1.1 over Unix sockets, so that both ends stream, apply
 * backpressure and close as any server does. These headers are for the sockets alone; each end removes them.
 */

/** Opens the loopback: it proves that the request comes from the host which got the token. */
export const LOOPBACK_HEADER = 'x-runyard-loopback';
/** Names the request from outside that the app received and passes on. It is valid once. */
export const EXCHANGE_HEADER = 'x-runyard-exchange';
/** The number of requests by the project's own code that led to this one. */
export const DEPTH_HEADER = 'x-runyard-depth';

/** The user behind a request, as the project's own handler named it (`encodeUser`). */
export const USER_HEADER = 'x-runyard-user';
/** The user of code of which neither the run nor the request is known that it works for. */
export const UNKNOWN_USER = '';

/** The id of the run whose code makes the request; missing for code that belongs to no run. */
export const RUN_HEADER = 'x-runyard-run';

/** The socket on which a host reaches the server of its own deployment. The token gives the deployment's rights. */
export interface Loopback {
  socketPath: string;
  token: string;
}
