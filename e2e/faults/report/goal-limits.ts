/** The limits of a goal, and where the bench measures something else. */
export interface GoalLimits {
  /** The goal's limits as they were set, before anything was measured. */
  limits: string;
  /** Each deviation of the numbers below from the limits, with the reason. */
  departures?: readonly string[];
}

const FEWER_SECONDS_OF_GRACE =
  'The grace period is shorter than asked for (20 s), so that more runs are handed back in the same time.';

export const goalLimits: Record<string, GoalLimits> = {
  R1: {
    limits:
      '100 kills at random moments over 300 runs on 3 workers: all runs end, no checkpoint lost or doubled, each step executed at most once more than kills hit it, killed → resumed p95 ≤ 15 s and at most 20 s.',
    departures: ['Runs may fail oftener than by default: several kills hit one run before it gets a step further.'],
  },
  R2: {
    limits:
      'Workers, agent-apis and the gateway killed and 50 clients cut at random: no event missing, repeated or out of order; a new client sees its first event within 1 s.',
    departures: [
      'The first event of new clients is judged by its 99th percentile, not by the longest: a client whose own connection a kill cuts waits for the process to be back.',
    ],
  },
  R3: {
    limits:
      'Workers stop claiming within 1 s and exit with 0 within grace + 2 s; runs are resumed elsewhere within 5 s; none of 2,000 requests fails while agent-apis restart; streams end cleanly and go on.',
    departures: [
      FEWER_SECONDS_OF_GRACE,
      'For agent-api the window in which it still takes requests (5 s) counts in addition to the grace.',
    ],
  },
  R4: {
    limits:
      'Redis killed and emptied 20 times: no accepted run lost, all at work again within 10 s, creates answered with 2xx or 503, no process ends.',
  },
  R5: {
    limits:
      'Postgres stops at once, refuses for 30 s, has no connection left: no acknowledged write lost, all at work within 10 s, only 503 meanwhile.',
  },
  R6: {
    limits:
      'Kafka away for 60 s, killed, restarted: published within 30 s of its return, each event there, in order for each key, after de-duplication once; creates’ p99 at most 1.2 times the usual.',
  },
  R7: {
    limits:
      'Black holes of 30 s between all parts: each wait bounded by its configuration, nothing left over 15 s after they are healed, no committed step executed twice.',
  },
  R8: {
    limits:
      'A worker frozen for three leases and a node that blocks for 30 s, 200 times: every stale write refused, one terminal status, no foreign event.',
  },
  R9: {
    limits:
      '2,000 runs, 4 workers woken for the same ones, two fleets at once: one claim for each attempt, no double start.',
    departures: [
      'The lease is longer than by default: workers are frozen on purpose, and must not lose what they hold.',
    ],
  },
  R10: {
    limits:
      '20 readers of 1 KB/s on a 50 MB stream beside 50 normal ones: at most 64 MB more memory, normal readers’ p99 at most twice that alone, nothing lost.',
    departures: ['Normal delays below 10 ms count as 10 ms.'],
  },
  R11: {
    limits:
      '2,000 creates in one second, 500 streams that reconnect in the same second, cold caches: nothing but 2xx, 429 and 503, no crash, p99 of what is admitted ≤ 3 s, usual latency again within 30 s.',
    departures: [
      'The client may take 1.5 s to send what is asked for within one: it shares the two cores with all the rest. Where it took longer, the storm was longer and thinner than asked for.',
    ],
  },
  R12: {
    limits:
      '50 creates at once on a thread for each of 4 strategies, 1,000 random sequences: never two running runs, all as the reference model says.',
  },
  R13: {
    limits:
      '1,000 orders to end that race with the run’s own end, the worker lost in 10 %: one terminal status, visible within 5 s, nothing left of what was rolled back.',
  },
  R14: {
    limits:
      '3 schedulers, killed, clocks set an hour forth and back, 1,000 compressed ticks: each fires once, missed ones follow the stated policy.',
    departures: [
      'A thousand ticks are 24 of the clock for each of 50 crons: 1,200 slots, of which each has to make one run.',
    ],
  },
  R15: {
    limits: 'A creation sent 100 times with one key over connections that are cut: one run for each key, one answer.',
  },
  R16: {
    limits:
      'Exit, out of memory, endless loop, 20 MB of state: failed after 3 attempts with a name, other runs unharmed or resumed, the worker at work again within 5 s.',
    departures: [
      'A process counts as blocked after 5 s instead of 60 s and has a smaller heap, so that the goal ends in minutes.',
    ],
  },
  R17: {
    limits:
      'Releases N and N−1 of each service together, both orders: what R1 to R3 promise holds, migrations need no stop.',
  },
  R18: {
    limits:
      '60 minutes at 20 runs a second with a fault a minute: no violation, memory grows by at most 1 MB in 10 minutes, descriptors and timers are as at the start.',
  },
  R19: {
    limits:
      'Services start before what they need, 24 orders: alive at once, ready only when usable, all ready within 15 s of the last one.',
    departures: [
      '“At once” is within 5 s of the start of the process, on two cores that start several at the same time.',
    ],
  },
  R20: {
    limits: 'Each store call fails with 5 %, before or after it takes effect, over 5,000 runs: all promises hold.',
  },
  R21: {
    limits:
      'Receivers slow, failing, cut, gone: retried by schedule with jitter, same id, new time; 410 disables; others are told within 2 s, p99.',
    departures: [
      'The 99th percentile is taken from 20 runs of the well-behaved receiver, which makes it their longest.',
    ],
  },
  R22: {
    limits:
      'Each background part started and stopped 10 × 50 times: no hang over 5 s, no unhandled rejection, no leak.',
    departures: [
      'These are the parts that services share. Those of one service are started and stopped as often by its own tests (`start-stop.test.ts`).',
    ],
  },
  R23: {
    limits:
      'Workers, agent-apis and the gateway killed 30 times, clients of version 2 over SSE and over websockets cut 500 times each: no event missing without a gap that says so, in at most 1 % of the threads, none repeated or out of order, no id for two events; when Redis is emptied a gap says so, and ids go on.',
  },
  R24: {
    limits:
      'Workers, agent-apis and the gateway killed 30 times, Redis killed and emptied 5 times, 20 clients of A2A 1.0: every task ends, with its whole answer at each process; each subscription that comes to the end of an answer had every part once, unless Redis was emptied.',
  },
  R25: {
    limits:
      'Workers, agent-apis and the gateway killed 30 times, Redis killed and emptied 5 times, 20 clients of MCP, half of them by revision 2026-07-28 and half by 2025-11-25: every acknowledged task ends once, with its whole result at each process; each answer counts once, and one that was taken is not replaced; the same question about a task gets the same answer again.',
  },
  RH: {
    limits:
      'A deployment with 1,000 runs in flight and 100 that wait, halted 5 times: none in flight within 5 s, no run created or started meanwhile, and those that waited run when it is resumed.',
  },
  RK: {
    limits: '50 keys revoked at random moments: refused by the gateway, and their open streams cut, within 5 s.',
  },
  RP: {
    limits:
      'Gateway, control-plane, data-plane, builder, org-access and oauth-broker killed 5 times each: at work again within 15 s, nothing forgotten.',
  },
  RS: {
    limits:
      'Gateway, data-plane, builder and the process that the other services share killed 5 times each: at work again within 15 s, nothing forgotten.',
  },
};
