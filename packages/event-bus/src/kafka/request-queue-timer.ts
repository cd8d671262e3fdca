import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

let isCalm = false;

/**
 * kafkajs 2.2.4 re-arms the timer for held-back requests after every check, with a negative delay when nothing is held back: a
 * timer that fires every millisecond for as long as a connection lives, and a warning of Node's for each. Here it is armed only
 * when there is something to wait for. Sending does not depend on it: a request is held back only by throttling (this timer) or by
 * the limit of requests in flight (checked at every answer).
 */
export function calmRequestQueueTimer(): void {
  if (isCalm) return;
  isCalm = true;
  const { prototype } = RequestQueue;
  const arm = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function armWhenHeldBack(this: RequestQueue): void {
    if (this.pending.length > 0) arm.call(this);
  };
}
