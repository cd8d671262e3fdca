import Type, { type Static } from 'typebox';

/**
 * The one job of the wake-up queue: it says that there is work. The claim in Postgres decides which, so a lost or
 * duplicated job costs nothing but time.
 */
export const RunWakeup = Type.Object(
  { reason: Type.Union([Type.Literal('created'), Type.Literal('finished'), Type.Literal('swept')]) },
  { $id: 'RunWakeup', examples: [{ reason: 'created' }] },
);
export type RunWakeup = Static<typeof RunWakeup>;

/** BullMQ queue name. The deployment's key prefix is in BullMQ's own `prefix` option, in hash-tag braces. */
export const RUN_WAKEUP_QUEUE = 'run-wakeup-v1';
