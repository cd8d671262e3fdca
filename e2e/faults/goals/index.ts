import type { Goal } from '../bench/goal.ts';
import { goal as r01 } from './r01-killed-workers.ts';
import { goal as r02 } from './r02-cut-streams.ts';
import { goal as r03 } from './r03-planned-stops.ts';
import { goal as r04 } from './r04-redis-lost.ts';
import { goal as r05 } from './r05-postgres-lost.ts';
import { goal as r06 } from './r06-kafka-away.ts';
import { goal as r07 } from './r07-partitions.ts';
import { goal as r08 } from './r08-stale-workers.ts';
import { goal as r09 } from './r09-one-claim.ts';
import { goal as r10 } from './r10-slow-readers.ts';
import { goal as r11 } from './r11-storms.ts';
import { goal as r12 } from './r12-busy-threads.ts';
import { goal as r13 } from './r13-cancel-races.ts';
import { goal as r14 } from './r14-crons.ts';
import { goal as r15 } from './r15-repeated-requests.ts';
import { goal as r16 } from './r16-poison-runs.ts';
import { goal as r17 } from './r17-two-releases.ts';
import { goal as r19 } from './r19-starts-in-any-order.ts';
import { goal as r20 } from './r20-failing-store-calls.ts';
import { goal as r21 } from './r21-webhook-receivers.ts';
import { goal as r22 } from './r22-start-stop-storm.ts';
import { goal as r23 } from './r23-event-protocol.ts';
import { goal as r24 } from './r24-agent-tasks.ts';
import { goal as r25 } from './r25-tool-tasks.ts';
import { goal as rh } from './rh-halts.ts';
import { goal as rk } from './rk-revoked-keys.ts';
import { goal as rp } from './rp-platform.ts';
import { goal as rs } from './rs-shared-process.ts';

/** All goals, in the order of their numbers. */
export const goals: readonly Goal[] = [
  r01,
  r02,
  r03,
  r04,
  r05,
  r06,
  r07,
  r08,
  r09,
  r10,
  r11,
  r12,
  r13,
  r14,
  r15,
  r16,
  r17,
  r19,
  r20,
  r21,
  r22,
  r23,
  r24,
  r25,
  rh,
  rk,
  rp,
  rs,
];
