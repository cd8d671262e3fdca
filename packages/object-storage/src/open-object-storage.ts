import { join } from 'node:path';
import { ConfigError } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';
import { FolderStorage } from './folder-storage.ts';
import type { ObjectStorage } from './object-storage.ts';
import { S3Storage } from './s3-storage.ts';

export const objectStorageVariables = {
  S3_BUCKET: Type.Optional(
    Type.String({ minLength: 1, description: 'Bucket for uploaded sources; without one they are kept in DATA_DIR.' }),
  ),
  S3_PREFIX: Type.String({ default: '', description: 'Before the names of all objects in the bucket.' }),
  S3_REGION: Type.String({ default: 'us-east-1' }),
  S3_ENDPOINT: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Base URL of a server that speaks the protocol of S3; without one, Amazon.',
    }),
  ),
  S3_ACCESS_KEY_ID: Type.Optional(Type.String({ minLength: 1 })),
  S3_SECRET_ACCESS_KEY: Type.Optional(Type.String({ minLength: 1 })),
};

const schema = Type.Object({ ...objectStorageVariables, DATA_DIR: Type.String() });

/** Opens the storage for sources: a bucket when one is configured, otherwise a folder. @throws ConfigError */
export function openObjectStorage(config: Static<typeof schema>): ObjectStorage {
  const { S3_BUCKET: bucket, S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = config;
  if (bucket === undefined) return new FolderStorage(join(config.DATA_DIR, 'objects'));
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new ConfigError(['S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY are needed with S3_BUCKET.']);
  }
  return new S3Storage({
    bucket,
    accessKeyId,
    secretAccessKey,
    prefix: config.S3_PREFIX.replace(/^\/+|(?<!\/)\/+$/g, ''),
    region: config.S3_REGION,
    endpoint: config.S3_ENDPOINT,
  });
}
