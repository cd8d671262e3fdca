import { objectStorageVariables } from '@runyard/object-storage';
import { serviceVariables, statefulServiceVariables } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';
import { baseImageVariables } from './base-images/settings.ts';
import { storageQuotaVariables } from './storage-quota/storage-quota.ts';

const { DATABASE_URI, DATABASE_POOL_SIZE, DATABASE_PREPARED_STATEMENTS, INTERNAL_TOKEN } = statefulServiceVariables;

export const configSchema = Type.Object({
  ...serviceVariables,
  DATABASE_URI,
  DATABASE_POOL_SIZE,
  DATABASE_PREPARED_STATEMENTS,
  INTERNAL_TOKEN,
  CONTROL_PLANE_URL: Type.String({
    format: 'uri',
    description: 'Base URL of control-plane, which knows the deployments and the images that they need.',
  }),
  PUBLIC_URL: Type.String({ format: 'uri', description: 'Base URL of the gateway as clients know it.' }),
  REGISTRY_URL: Type.Optional(
    Type.String({
      format: 'uri',
      description:
        'Where image tools reach the registry, as `https://host:port` without a path. Default: the root of `PUBLIC_URL`.',
    }),
  ),
  REGISTRY_BLOB_LIMIT_BYTES: Type.Integer({
    default: 5_368_709_120,
    minimum: 1_048_576,
    // The largest object that S3 accepts in one request.
    maximum: 5_368_709_120,
    description: 'Bytes of one layer of a pushed image.',
  }),
  DATA_DIR: Type.String({
    minLength: 1,
    description:
      "Folder for layers that are being received and, without a bucket, for those that were: control-plane's.",
  }),
  ...objectStorageVariables,
  ...storageQuotaVariables,
  ...baseImageVariables,
});
export type Config = Static<typeof configSchema>;
