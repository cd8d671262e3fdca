import Type, { type Static } from 'typebox';
import { ModelUsage, ToolUsage, USED_NAMES_MAX } from '../run-usage.ts';
import { cloudEvent } from './envelope.ts';

const run = {
  deployment_id: Type.String(),
  run_id: Type.String({ format: 'uuid' }),
  thread_id: Type.String({ format: 'uuid' }),
  assistant_id: Type.String({ format: 'uuid' }),
};

/**
 * Bytes of a run's metadata as JSON above which its event leaves them out. Over Redis, events of an hour are in the memory
 * of the server that runs need too.
 */
export const EVENT_METADATA_BYTES_MAX = 4_096;
/** Characters of an error's message that an event carries: the rest is with the run itself. */
export const EVENT_ERROR_CHARACTERS_MAX = 2_000;

/** The maker of the run, as agent-api knows it. */
const RunCreator = Type.Object({
  kind: Type.String({
    description: '`service_key`, `personal_token`, `session`, `project_user`, `cron`, `anonymous` or `internal`.',
  }),
  identity: Type.String({ description: 'The identity of the platform, or what the project calls its user.' }),
  key_id: Type.Optional(Type.String({ description: 'The key of the platform by which it was made.' })),
});

const RunError = Type.Object({
  error: Type.String({ description: 'Its class: `ValueError`.' }),
  message: Type.String({ description: 'At most 2,000 characters; longer ones are cut.' }),
});

const example = {
  deployment_id: 'd2a5b6c1-6f0e-4d57-8f53-0c8f0e7a1b03',
  run_id: '0199f0a4-3b5e-7c61-9d2f-5a7e8f9b0c04',
  thread_id: '0199f0a4-3b50-7a11-8c3e-4b6d7e8f9a05',
  assistant_id: '046b5dc7-2108-582c-9c6c-31d556d138f0',
};
const subject = example.thread_id;

export const RunCreated = cloudEvent(
  'runyard.run.created',
  Type.Object({
    ...run,
    graph_id: Type.Optional(Type.String()),
    metadata: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          'Metadata of the run as they are stored, encrypted where the project encrypts them. Left out above 4 KiB.',
      }),
    ),
    creator: Type.Optional(RunCreator),
  }),
  {
    subject,
    data: {
      ...example,
      graph_id: 'agent',
      metadata: { customer: 'c-42' },
      creator: {
        kind: 'service_key',
        identity: '0198a6c2-6f1a-7c5e-9a51-0a53d0a0c002',
        key_id: '0198a6c2-6f1a-7c5e-9a51-0a53d0a0c004',
      },
    },
  },
);
export const RunStarted = cloudEvent(
  'runyard.run.started',
  Type.Object({
    ...run,
    attempt: Type.Integer(),
    revision_id: Type.Optional(Type.String({ description: 'The revision whose worker executes it.' })),
  }),
  { subject, data: { ...example, attempt: 1, revision_id: 'e4f5a6b7-c8d9-4e0f-8a1b-2c3d4e5f6a07' } },
);
/**
 * Says that an attempt ended without ending the run. The run waits for another claim, and goes on from its last
 * checkpoint.
 */
export const RunRetried = cloudEvent(
  'runyard.run.retried',
  Type.Object({
    ...run,
    attempt: Type.Integer({ description: 'The attempt that ended.' }),
    reason: Type.String({
      description:
        '`worker_lost`: its worker was not heard of any more. `failed`: the attempt failed in a way that another one may not. `handed_over`: its worker stopped in good order.',
    }),
  }),
  { subject, data: { ...example, attempt: 1, reason: 'worker_lost' } },
);
/**
 * Says that somebody cancelled a run, or changed its cancel order from `interrupt` to `rollback`. The event of its end
 * follows.
 */
export const RunCancelled = cloudEvent(
  'runyard.run.cancelled',
  Type.Object({
    ...run,
    attempt: Type.Integer({ description: '0 when it had not begun.' }),
    action: Type.String({ description: '`interrupt` or `rollback`.' }),
  }),
  { subject, data: { ...example, attempt: 1, action: 'interrupt' } },
);
/**
 * Says what an attempt of a run has used so far, all of it together: a later event of the attempt replaces an earlier
 * one. It comes while the attempt goes on, at most once a second, and before its end. An attempt that calls neither
 * models nor tools has none.
 */
export const RunUsed = cloudEvent(
  'runyard.run.used',
  Type.Object({
    ...run,
    attempt: Type.Integer(),
    models: Type.Array(ModelUsage, { maxItems: USED_NAMES_MAX }),
    tools: Type.Array(ToolUsage, { maxItems: USED_NAMES_MAX }),
  }),
  {
    subject,
    data: {
      ...example,
      attempt: 1,
      models: [
        {
          provider: 'openai',
          model: 'gpt-5-mini',
          calls: 2,
          failed: 0,
          input_tokens: 1840,
          output_tokens: 212,
          cache_read_tokens: 1024,
          cache_creation_tokens: 0,
          reasoning_tokens: 64,
        },
      ],
      tools: [{ name: 'find_customer', calls: 1, failed: 0 }],
    },
  },
);
export type RunUsage = Pick<Static<typeof RunUsed>['data'], 'models' | 'tools'>;
/** Says that a run reached a terminal status. */
export const RunFinished = cloudEvent(
  'runyard.run.finished',
  Type.Object({
    ...run,
    attempt: Type.Integer(),
    status: Type.String(),
    error: Type.Optional(RunError),
  }),
  {
    subject,
    data: {
      ...example,
      attempt: 1,
      status: 'error',
      error: { error: 'ValueError', message: 'no such customer' },
    },
  },
);

/** Any event of the topic `runs`. */
export type RunEvent = Static<
  typeof RunCreated | typeof RunStarted | typeof RunRetried | typeof RunCancelled | typeof RunUsed | typeof RunFinished
>;
