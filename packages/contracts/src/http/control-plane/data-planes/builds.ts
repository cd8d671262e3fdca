import Type from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { Uuid } from '../../common.ts';
import { listenerErrorResponses } from '../listeners.ts';
import { dataPlaneTags, Epoch, staleEpochResponse } from './epoch.ts';
import { PLATFORM_DATA_PLANE_PERMISSION } from './permission.ts';

export const BUILD_CONTENT_TYPE = 'application/gzip';

export const fetchBuild = defineOperation({
  operationId: 'fetchBuild',
  method: 'get',
  path: '/v2/listeners/{listener_id}/revisions/{revision_id}/build',
  summary: 'The project that the platform has built for a revision, as a gzipped tar archive.',
  tags: dataPlaneTags,
  access: 'principal',
  permission: PLATFORM_DATA_PLANE_PERMISSION,
  params: Type.Object({ listener_id: Uuid, revision_id: Uuid }),
  query: Type.Object({ epoch: Epoch }),
  responses: {
    200: { description: 'The archive.', contentType: BUILD_CONTENT_TYPE, schema: Type.String() },
    409: staleEpochResponse,
    ...listenerErrorResponses,
  },
});
