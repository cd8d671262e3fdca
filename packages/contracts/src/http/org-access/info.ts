import Type from 'typebox';
import { JsonObject } from '../../json-object.ts';
import { defineOperation } from '../../operation.ts';
import { Nullable, Timestamp } from '../common.ts';
import { UnauthorizedResponse } from './responses.ts';

const PlatformInfo = Type.Object(
  {
    version: Type.String(),
    /** Null: Runyard has no license that expires. */
    license_expiration_time: Nullable(Timestamp),
    /** Null: Runyard takes no traces. */
    batch_ingest_config: Nullable(JsonObject),
    instance_flags: JsonObject,
  },
  { $id: 'PlatformInfo' },
);

export const getPlatformInfo = defineOperation({
  operationId: 'getPlatformInfo',
  method: 'get',
  path: '/api/v1/info',
  summary: 'The version of the platform, as clients of LangSmith ask for it.',
  tags: ['organizations'],
  access: 'principal',
  permission: 'any key',
  responses: {
    200: {
      description: 'What it is.',
      schema: PlatformInfo,
      example: { version: '0.1.0', license_expiration_time: null, batch_ingest_config: null, instance_flags: {} },
    },
    401: UnauthorizedResponse,
  },
});
