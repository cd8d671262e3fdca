import Type, { type Static } from 'typebox';
import { defineOperation, type Operation } from '../../operation.ts';
import { Uuid } from '../common.ts';
import { StoredBytes } from '../internal/stored-bytes.ts';
import { describeProjectBase, keepProjectImages, makeProjectImage, prepareProjectImage } from './project-images.ts';
import { InvalidResponse } from './responses.ts';

export * from './project-images.ts';

const deployment_id = '0192f7a0-0000-7000-8000-000000000001';

const ImageRemovalRequest = Type.Object({ deployment_id: Uuid }, { $id: 'ImageRemovalRequest' });

export const ImageRemoval = Type.Object({}, { $id: 'ImageRemoval' });

export const removeImages = defineOperation({
  operationId: 'removeImages',
  method: 'post',
  path: '/internal/images/remove',
  summary: 'Removes all images of a deployment that is being deleted. None is taken for it any more.',
  tags: ['internal'],
  access: 'internal',
  body: ImageRemovalRequest,
  responses: {
    200: { description: 'Nothing of them is left.', schema: ImageRemoval, example: {} },
    422: InvalidResponse,
  },
  examples: { body: { deployment_id } },
});

export const StoredBytesRequest = Type.Object(
  {
    deployment_id: Uuid,
    workspace_id: Uuid,
    /** True when all of the platform is counted too; otherwise its number is 0. */
    is_for_platform: Type.Boolean(),
  },
  { $id: 'StoredBytesRequest' },
);
export type StoredBytesRequest = Static<typeof StoredBytesRequest>;

export const countStoredImages = defineOperation({
  operationId: 'countStoredImages',
  method: 'post',
  path: '/internal/images/stored-bytes',
  summary:
    'Bytes that the images of a deployment take, of its workspace, and of all. Layers of base images count for none.',
  tags: ['internal'],
  access: 'internal',
  body: StoredBytesRequest,
  responses: {
    200: {
      description: 'The bytes.',
      schema: StoredBytes,
      example: { deployment: 52_428_800, workspace: 104_857_600, platform: 209_715_200 },
    },
    422: InvalidResponse,
  },
  examples: { body: { deployment_id, workspace_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001', is_for_platform: true } },
});

/** Every operation of the registry beside the distribution specification, which image tools bring along. */
export const registryOperations: readonly Operation[] = [
  removeImages,
  countStoredImages,
  describeProjectBase,
  prepareProjectImage,
  makeProjectImage,
  keepProjectImages,
];
