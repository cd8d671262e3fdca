import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { Nullable, Timestamp, Uuid } from '../common.ts';
import { StoredBytes } from '../internal/stored-bytes.ts';
import { InvalidResponse } from './responses.ts';

const deployment_id = '0192f7a0-0000-7000-8000-000000000001';
const workspace_id = '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001';
const Limit = Type.Integer({ minimum: 1 });

const ImageDeploymentRequest = Type.Object({ deployment_id: Uuid }, { $id: 'ImageDeploymentRequest' });

export const StorageLimits = Type.Object(
  {
    /** Bytes of uploaded sources and of archives of builds, which share the limits with the images. */
    sources: StoredBytes,
    /** Bytes of sources, builds and images together at most. */
    max: Type.Object({ deployment: Limit, workspace: Limit, platform: Nullable(Limit) }),
  },
  { $id: 'StorageLimits' },
);
export type StorageLimits = Static<typeof StorageLimits>;

export const ImageDeployment = Type.Object(
  {
    /** Null: there is no such deployment, or it is being deleted. */
    deployment: Nullable(
      Type.Object({
        workspace_id: Uuid,
        /** True when images may be pushed to it; the platform makes images of its projects in any case. */
        accepts_pushes: Type.Boolean(),
        storage: StorageLimits,
      }),
    ),
  },
  { $id: 'ImageDeployment' },
);
export type ImageDeployment = Static<typeof ImageDeployment>;

export const describeImageDeployment = defineOperation({
  operationId: 'describeImageDeployment',
  method: 'post',
  path: '/internal/images/deployment',
  summary: 'Whether images may be stored for a deployment, and how much room it has.',
  tags: ['internal'],
  access: 'internal',
  body: ImageDeploymentRequest,
  responses: {
    200: {
      description: 'The deployment, or null.',
      schema: ImageDeployment,
      example: {
        deployment: {
          workspace_id,
          accepts_pushes: true,
          storage: {
            sources: { deployment: 0, workspace: 1_048_576, platform: 2_097_152 },
            max: { deployment: 53_687_091_200, workspace: 214_748_364_800, platform: null },
          },
        },
      },
    },
    422: InvalidResponse,
  },
  examples: { body: { deployment_id } },
});

/** Images that the revisions of a deployment name, as `<registry>/<name>@<digest>` or `<registry>/<name>:<tag>`. */
export const NamedImages = Type.Object(
  {
    /** Names in revisions that run or can be deployed again. */
    kept: Type.Array(Type.String()),
    /** Names in all other revisions. */
    old: Type.Array(Type.String()),
  },
  { $id: 'NamedImages' },
);
export type NamedImages = Static<typeof NamedImages>;

export const listNamedImages = defineOperation({
  operationId: 'listNamedImages',
  method: 'post',
  path: '/internal/images/named',
  summary: 'Which images the revisions of a deployment name.',
  tags: ['internal'],
  access: 'internal',
  body: ImageDeploymentRequest,
  responses: {
    200: {
      description: 'The names; none of a deployment that does not exist.',
      schema: NamedImages,
      example: { kept: [`agents.example.com/registry/${deployment_id}/agent:1.0`], old: [] },
    },
    422: InvalidResponse,
  },
  examples: { body: { deployment_id } },
});

const FormerImageTokenRequest = Type.Object(
  { token: Type.String({ maxLength: 4_096 }) },
  { $id: 'FormerImageTokenRequest' },
);

export const FormerImageToken = Type.Object(
  {
    /** Null: the text is no token, or has expired. */
    grant: Nullable(
      Type.Object({
        deployment_id: Uuid,
        /** The one repository that it is for; null: all of the deployment. */
        name: Nullable(Type.String()),
        may_push: Type.Boolean(),
        /** Milliseconds since 1970. */
        expires_at: Type.Number(),
      }),
    ),
  },
  { $id: 'FormerImageToken' },
);
export type FormerImageToken = Static<typeof FormerImageToken>;

export const openFormerImageToken = defineOperation({
  operationId: 'openFormerImageToken',
  method: 'post',
  path: '/internal/images/former-token',
  summary: 'What a token of older releases permits. They encrypted tokens with the key of control-plane, for 30 days.',
  tags: ['internal'],
  access: 'internal',
  body: FormerImageTokenRequest,
  responses: {
    200: { description: 'The grant, or null.', schema: FormerImageToken, example: { grant: null } },
    422: InvalidResponse,
  },
  examples: { body: { token: 's1.1f2e3d4c.c2VhbGVk' } },
});

/** Rows of one page at most. A page ends before its rows take more than a few megabytes, unless one does alone. */
export const FORMER_IMAGE_ROWS_PER_PAGE = 50;

const text = Type.String();
const size = Type.Integer({ minimum: 0 });
const BlobPart = Type.Object({ key: text, size, sha256: text });
const parts = Type.Array(BlobPart);

const FormerUpload = Type.Object({ id: Uuid, deployment_id: Uuid, size, parts, changed_at: Timestamp });
const FormerBlob = Type.Object({ deployment_id: Uuid, digest: text, size, parts, created_at: Timestamp });
const FormerManifest = Type.Object({
  deployment_id: Uuid,
  repository: text,
  digest: text,
  media_type: text,
  /** In base64. */
  content: text,
  subject: Nullable(text),
  artifact_type: Nullable(text),
  created_at: Timestamp,
});
const FormerTag = Type.Object({ deployment_id: Uuid, repository: text, tag: text, digest: text });
const FormerBaseLayer = Type.Object({ digest: text, size, parts, used_at: Timestamp });

/** Rows of one kind that control-plane kept of images in older releases, and the workspaces of their deployments. */
export const FormerImageRows = Type.Object(
  {
    deployments: Type.Array(Type.Object({ id: Uuid, workspace_id: Uuid })),
    uploads: Type.Array(FormerUpload),
    blobs: Type.Array(FormerBlob),
    base_layers: Type.Array(FormerBaseLayer),
    manifests: Type.Array(FormerManifest),
    tags: Type.Array(FormerTag),
  },
  { $id: 'FormerImageRows' },
);
export type FormerImageRows = Static<typeof FormerImageRows>;

const Kind = Type.Union([
  Type.Literal('blobs'),
  Type.Literal('base_layers'),
  Type.Literal('manifests'),
  Type.Literal('tags'),
  Type.Literal('uploads'),
]);
export type FormerImageKind = Static<typeof Kind>;

export const FormerImageRowsRequest = Type.Object(
  {
    /** Rows that the registry has stored, by their keys: they are deleted here. */
    stored: Type.Optional(
      Type.Object({
        kind: Kind,
        keys: Type.Array(Type.Array(text, { maxItems: 3 }), { maxItems: FORMER_IMAGE_ROWS_PER_PAGE }),
      }),
    ),
  },
  { $id: 'FormerImageRowsRequest' },
);
export type FormerImageRowsRequest = Static<typeof FormerImageRowsRequest>;

export const FormerImagePage = Type.Object(
  {
    /** The kind of the rows; null: nothing is left. */
    kind: Nullable(Kind),
    /** The keys of the rows, with which the next question says that they are stored. */
    keys: Type.Array(Type.Array(text)),
    rows: FormerImageRows,
  },
  { $id: 'FormerImagePage' },
);
export type FormerImagePage = Static<typeof FormerImagePage>;

export const handOverFormerImages = defineOperation({
  operationId: 'handOverFormerImages',
  method: 'post',
  path: '/internal/images/former-rows',
  summary: 'Hands over what control-plane kept of images in older releases, and deletes what the registry has stored.',
  tags: ['internal'],
  access: 'internal',
  body: FormerImageRowsRequest,
  responses: {
    200: {
      description: 'The first rows that are left.',
      schema: FormerImagePage,
      example: {
        kind: null,
        keys: [],
        rows: { deployments: [], uploads: [], blobs: [], base_layers: [], manifests: [], tags: [] },
      },
    },
    422: InvalidResponse,
  },
  examples: { body: {} },
});
