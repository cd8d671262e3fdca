import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse, ServerSentEvent, Uuid } from '../common.ts';
import { HISTORY_ERROR_RESPONSES, HISTORY_TAG } from './responses.ts';

/** The data of an event `runs_changed`. */
export const RunsChanged = Type.Object({ deployment_ids: Type.Array(Uuid) }, { $id: 'RunsChanged' });
export type RunsChanged = Static<typeof RunsChanged>;

const DEPLOYMENT_ID = 'd2a5b6c1-6f0e-4d57-8f53-0c8f0e7a1b03';

export const watchRunChanges = defineOperation({
  operationId: 'watchRunChanges',
  method: 'get',
  path: '/v2/runs/changes',
  summary: 'Hints that runs of a workspace have changed, so that a search would find something else.',
  tags: [HISTORY_TAG],
  access: 'principal',
  permission: 'runs:read',
  query: Type.Object({
    deployment_ids: Type.Optional(
      Type.Array(Uuid, {
        minItems: 1,
        maxItems: 100,
        description: 'Only changes of these. Ones that the caller may not see count as missing.',
      }),
    ),
  }),
  responses: {
    200: {
      description:
        'Server-sent events, and comments as a sign of life. `ready` comes first, with `{}`: a search after it misses no change. Each `runs_changed` names deployments whose runs have changed, at most every half second; `deployment_ids` are those that the caller may see then. A hint may be about nothing. The stream ends after some minutes, and when the service stops: ask for another, and search after its `ready`.',
      contentType: 'text/event-stream',
      schema: ServerSentEvent,
      example: { event: 'runs_changed', data: `{"deployment_ids":["${DEPLOYMENT_ID}"]}` },
    },
    503: {
      description: 'No room for another stream, or a part that is needed is away.',
      schema: ErrorResponse,
      headers: { 'Retry-After': 'Seconds after which to try again.' },
      example: { detail: 'Too many streams are open at the moment' },
    },
    ...HISTORY_ERROR_RESPONSES,
  },
  examples: { query: { deployment_ids: [DEPLOYMENT_ID] } },
});
