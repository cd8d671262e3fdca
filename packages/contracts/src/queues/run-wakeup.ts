import Type, { type Static } from 'typebox';

/**
 * The one job of the wake-up queue: "there is work". Which work is decided by claiming in Postgres, so a lost or doubled
 * job costs nothing but time.
 */
export const RunWakeup = Type.Object(
  { reason: Type.Union([Type.Literal('created'), Type.Literal('finished'), Type.Literal('swept')]) },
  { $id: 'RunWakeup', examples: [{ reason: 'created' }] },
);
export type RunWakeup = Static<typeof RunWakeup>;

/** BullMQ queue name; the deployment's key prefix goes in BullMQ's own `prefix` option, in hash-tag braces. */
export const RUN_WAKEUP_QUEUE = 'run-wakeup-v1';
