import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse, Timestamp, Uuid } from '../common.ts';
import { stringEnum } from './parts.ts';
import { runNotFoundResponses, runParams, threadRunOperation } from './run-responses.ts';
import { RUN_PARAMS } from './runs.ts';

const orNull = <T extends Type.TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });

const WebhookAttempt = Type.Object({
  started_at: Timestamp,
  duration_ms: Type.Integer(),
  status_code: orNull(Type.Integer(), 'Null when there was no answer.'),
  error: orNull(Type.String(), 'Null when the receiver took it.'),
});

/** The state of one webhook: a delivery of a run's end to one receiver. */
export const WebhookDelivery = Type.Object(
  {
    delivery_id: Type.Unsafe<string>({
      ...Uuid,
      description: 'What the receiver got as `webhook-id`, the same at each try.',
    }),
    url: Type.String({ description: 'The receiver, without the query.' }),
    status: stringEnum(['pending', 'delivered', 'failed', 'refused']),
    attempts: Type.Array(WebhookAttempt, { description: 'Oldest first.' }),
    next_attempt_at: orNull(Timestamp, 'Null when it is over.'),
    created_at: Timestamp,
    ended_at: orNull(Timestamp, 'Null while it goes on.'),
  },
  { $id: 'WebhookDelivery' },
);
export type WebhookDelivery = Static<typeof WebhookDelivery>;

const exampleDelivery: WebhookDelivery = {
  delivery_id: '5f0c2a52-6d1e-4c57-9c55-0f5a3a3f9d51',
  url: 'https://hooks.example.com/runs',
  status: 'delivered',
  attempts: [
    { started_at: '2026-11-20T20:19:02.118000+00:00', duration_ms: 212, status_code: 503, error: 'HTTP 503' },
    { started_at: '2026-11-20T20:19:03.402000+00:00', duration_ms: 96, status_code: 204, error: null },
  ],
  next_attempt_at: null,
  created_at: '2026-11-20T20:19:02.101000+00:00',
  ended_at: '2026-11-20T20:19:03.499000+00:00',
};

export const listWebhookDeliveries = defineOperation({
  ...threadRunOperation,
  operationId: 'listWebhookDeliveries',
  method: 'get',
  path: '/threads/{thread_id}/runs/{run_id}/webhook-deliveries',
  permission: 'runs:read',
  summary: 'Whom a run told of its end, and how that went',
  params: RUN_PARAMS,
  responses: {
    200: {
      description: 'One entry per receiver; none before the run has ended, but for refused receivers.',
      schema: Type.Array(WebhookDelivery),
      example: [exampleDelivery],
    },
    ...runNotFoundResponses,
  },
  examples: { params: runParams },
});

export const redeliverWebhook = defineOperation({
  ...threadRunOperation,
  operationId: 'redeliverWebhook',
  method: 'post',
  path: '/threads/{thread_id}/runs/{run_id}/webhook-deliveries/{delivery_id}/redeliver',
  permission: 'runs:update',
  summary: 'Send a webhook again, with all its attempts, under the same id',
  params: Type.Object({ ...RUN_PARAMS.properties, delivery_id: Uuid }),
  responses: {
    200: {
      description:
        'The delivery, due at once. One that is being attempted at the moment stays as it is, and one that waits for its next attempt waits no longer.',
      schema: WebhookDelivery,
      example: { ...exampleDelivery, status: 'pending', next_attempt_at: exampleDelivery.ended_at, ended_at: null },
    },
    404: { description: 'No such run, or no such delivery of it.', schema: ErrorResponse },
    409: {
      description: 'What was to be sent is no longer stored: it was delivered, or the run was deleted.',
      schema: ErrorResponse,
    },
    422: { description: 'The receiver may not be reached (any more), or an id is not a UUID.', schema: ErrorResponse },
  },
  examples: { params: { ...runParams, delivery_id: exampleDelivery.delivery_id } },
});

export const WEBHOOK_OPERATIONS = [listWebhookDeliveries, redeliverWebhook];
