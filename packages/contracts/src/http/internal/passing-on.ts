/** Headers between the gateway and the processes behind it, about answers that change hands. None of them reaches a client. */

/**
 * On a 503: nothing was done with the request, so it may go to another process. The value says why.
 */
export const UNTOUCHED_HEADER = 'x-runyard-untouched';

/**
 * In a request: whoever sends it takes an answer over when its process has to stop. `accepted`, or `continued` when the request
 * itself takes one over.
 *
 * As a trailer of an answer: the answer is not whole, and what is missing is the body of the answer to a GET of this path at any
 * process of the deployment, with the trailer `Last-Event-ID`, if there is one, as its header. Only whoever announced itself so
 * gets one; others see the connection close, since an answer that just ended would look whole.
 */
export const HANDOVER_HEADER = 'x-runyard-handover';
