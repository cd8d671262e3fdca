import type { CronCreate, CronPatch } from '@runyard/contracts';

const RUN_FIELDS = [
  'input',
  'config',
  'context',
  'webhook',
  'interrupt_before',
  'interrupt_after',
  'stream_mode',
  'stream_subgraphs',
  'stream_resumable',
  'durability',
  'multitask_strategy',
  'checkpoint_during',
] as const;

/** The arguments of a cron's runs, besides its assistant and its metadata. */
export type CronPayload = Pick<CronCreate, (typeof RUN_FIELDS)[number]>;

/** Picks the fields of a request that go into runs. */
export function payloadOf(request: CronCreate | CronPatch): CronPayload {
  const given = request as CronCreate;
  const payload = Object.fromEntries(
    RUN_FIELDS.filter((field) => given[field] !== undefined).map((field) => [field, given[field]]),
  ) as CronPayload;
  const { config } = payload;
  return config?.configurable ? { ...payload, config: { ...config, configurable: withoutCronId(config) } } : payload;
}

/**
 * Merges a change into a payload. `checkpoint_during` is an older form of `durability`: a change of either replaces
 * both.
 */
export function mergePayload(before: CronPayload, change: CronPatch): CronPayload {
  const changes = payloadOf(change);
  if (changes.durability === undefined && changes.checkpoint_during === undefined) return { ...before, ...changes };
  const { durability: _, checkpoint_during: __, ...rest } = before;
  return { ...rest, ...changes };
}

/** Removes `cron_id`, which answers show here and clients send back; it is always the cron's own. */
function withoutCronId({ configurable }: NonNullable<CronCreate['config']>): Record<string, unknown> {
  const { cron_id: _, ...rest } = configurable ?? {};
  return rest;
}
