import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

let isPatched = false;

/**
 * Fixes a timer of kafkajs 2.2.4. It re-arms the timer for queued requests after every check, with a negative delay
 * when nothing is queued: it then fires every millisecond for the life of a connection, each time with a warning of
 * Node. Here it is armed only when a request is queued. Sending does not depend on it: a request is queued only by
 * throttling (this timer) or by the limit of requests in flight (checked at every answer).
 */
export function patchRequestQueueTimer(): void {
  if (isPatched) return;
  isPatched = true;
  const { prototype } = RequestQueue;
  const arm = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function armWhenHeldBack(this: RequestQueue): void {
    if (this.pending.length > 0) arm.call(this);
  };
}
