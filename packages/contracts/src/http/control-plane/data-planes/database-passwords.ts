import Type, { type Static } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { Uuid } from '../../common.ts';
import { listenerErrorResponses } from '../listeners.ts';
import { dataPlaneTags, Epoch, staleEpochResponse } from './epoch.ts';
import { PLATFORM_DATA_PLANE_PERMISSION } from './permission.ts';

const password = Type.String({ minLength: 16, maxLength: 512 });

export const DatabasePasswordRequest = Type.Object({ epoch: Epoch, password }, { $id: 'DatabasePasswordRequest' });
export type DatabasePasswordRequest = Static<typeof DatabasePasswordRequest>;
export const DatabasePassword = Type.Object({ password }, { $id: 'DatabasePassword' });
export type DatabasePassword = Static<typeof DatabasePassword>;

export const storeDatabasePassword = defineOperation({
  operationId: 'storeDatabasePassword',
  method: 'post',
  path: '/v2/listeners/{listener_id}/deployments/{deployment_id}/database-password',
  summary: "Keep the password of a deployment's database, unless there is one. The answer is the one that counts.",
  tags: dataPlaneTags,
  access: 'principal',
  permission: PLATFORM_DATA_PLANE_PERMISSION,
  params: Type.Object({ listener_id: Uuid, deployment_id: Uuid }),
  body: DatabasePasswordRequest,
  bodyLimitBytes: 65_536,
  responses: {
    200: {
      description: 'The password that is kept.',
      schema: DatabasePassword,
      example: { password: 'the password of the database' },
    },
    409: staleEpochResponse,
    ...listenerErrorResponses,
  },
  examples: { body: { epoch: 3, password: 'a password that was just made' } },
});
