/**
 * Headers between the gateway and the processes behind it, for requests and answers that another process continues.
 * None of them reaches a client.
 */

/** Says on a 503 that the request was not processed and may go to another process. The value is the reason. */
export const UNPROCESSED_HEADER = 'x-runyard-untouched';

/**
 * The request header says that the sender can follow the handoff of a stream when the process has to stop. Its value is
 * `accepted`, or `continued` when the request itself continues a stream.
 *
 * The trailer of the same name says that the answer is incomplete. The continuation is the body of the answer to a GET of this path
 * at any process of the deployment. The trailer `Last-Event-ID`, if there is one, becomes the header of that request.
 * Only senders with the request header get the trailer. For others the connection is closed, because a normal end would
 * make the answer look complete.
 */
export const HANDOFF_HEADER = 'x-runyard-handover';
