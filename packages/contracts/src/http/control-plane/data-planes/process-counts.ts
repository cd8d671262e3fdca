import Type, { type Static } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { Uuid } from '../../common.ts';
import { listenerErrorResponses } from '../listeners.ts';
import { dataPlaneTags, Epoch, staleEpochResponse } from './epoch.ts';
import { PLATFORM_DATA_PLANE_PERMISSION } from './permission.ts';

const Count = Type.Integer({ minimum: 0, maximum: 100_000 });

/** Numbers of a deployment's processes; a missing one was never changed. */
export const ProcessCounts = Type.Object(
  { 'agent-api': Type.Optional(Count), 'run-worker': Type.Optional(Count) },
  { $id: 'ProcessCounts' },
);
export type ProcessCounts = Static<typeof ProcessCounts>;

export const ProcessCountsReport = Type.Object({ epoch: Epoch, counts: ProcessCounts }, { $id: 'ProcessCountsReport' });
export type ProcessCountsReport = Static<typeof ProcessCountsReport>;

export const reportProcessCounts = defineOperation({
  operationId: 'reportProcessCounts',
  method: 'post',
  path: '/v2/listeners/{listener_id}/deployments/{deployment_id}/process-counts',
  summary: 'How many processes a deployment has been scaled to. The next data plane begins with as many.',
  tags: dataPlaneTags,
  access: 'principal',
  permission: PLATFORM_DATA_PLANE_PERMISSION,
  params: Type.Object({ listener_id: Uuid, deployment_id: Uuid }),
  body: ProcessCountsReport,
  bodyLimitBytes: 65_536,
  responses: { 204: { description: 'They are kept.' }, 409: staleEpochResponse, ...listenerErrorResponses },
  examples: { body: { epoch: 3, counts: { 'run-worker': 4 } } },
});
