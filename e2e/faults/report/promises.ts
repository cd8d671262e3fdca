/** The text before the numbers. */
export const promises = `This page is written by \`npm run test:faults -- --record\` from \`e2e/faults/results\`. It says what Runyard promises when machines, networks
and servers fail, and what a bench measured that makes them fail on purpose: real Postgres, Redis, Kafka and the built services as processes on 2 cores, killed, frozen,
cut off and restarted by choices that a seed repeats. Whoever doubts a line runs it: \`npm run test:faults -- --only R1 --seed 1\`.

## What is promised

1. A run answered with 2xx is in Postgres and reaches a terminal state; Redis and Kafka may be empty after a crash.
2. A committed checkpoint is never lost, never written twice, never overwritten by a stale worker: every write carries the epoch of its claim.
3. Only the step in progress at a crash may execute again. Its effects are at least once; its recorded result is once.
4. Exactly one terminal status for each run, and at most one running run for each thread.
5. A resumable stream (\`stream_resumable\`) goes on after \`Last-Event-ID\`: ids strictly increase, none is missing, none repeated, within its retention
   (\`RESUMABLE_STREAM_TTL_SECONDS\` after the run's last event). Past it, and after a Redis that lost its data, the client is told by a gap event.
6. Overload is answered with 429 or 503 and \`Retry-After\`. It is never answered with 2xx and forgotten, and never with 500.
7. SIGTERM: no new work at once, work in hand ends or is handed back within the grace period, exit code 0.
8. Outgoing events (Kafka, webhooks) are delivered at least once with a stable id, in order for each run.

## How to read the numbers

Each row is one number with its limit; behind it stands how many things it was taken from. A number in bold did not meet its limit, or was taken from too little. The ledger that doubles and losses
are counted with is a file the probe graph appends to: nothing in it is unique, so whatever happened twice stands there twice. \`docs/services\` tells what an operator
sees of each fault, and which metrics to watch.`;
