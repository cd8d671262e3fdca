import Type, { type Static } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse, Uuid } from '../common.ts';
import { DeploymentParams } from './deployments.ts';
import {
  BadRequestResponse,
  ForbiddenResponse,
  InvalidResponse,
  NotFoundResponse,
  UnauthorizedResponse,
} from './responses.ts';

/** Maximum bytes of an uploaded archive. */
export const UPLOAD_BYTES_MAX = 209_715_200;

/** Request header that limits the size of an upload, such as `0,209715200`. */
export const UPLOAD_RANGE_HEADER = 'x-goog-content-length-range';

export const UPLOAD_CONTENT_TYPE = 'application/gzip';

const UploadUrlRequest = Type.Object(
  {
    /** True when the client sends all headers in `upload_headers` with the upload. */
    supports_upload_headers: Type.Optional(Type.Boolean()),
  },
  { $id: 'UploadUrlRequest' },
);

export const UploadUrl = Type.Object(
  {
    /** Accepts one `PUT` of a gzipped tar archive, without a key, until it expires. */
    upload_url: Type.String(),
    /** The value for `source_tarball_path` after the upload. */
    object_path: Type.String(),
    /** Headers to send with the upload; only for clients that support them. */
    upload_headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  { $id: 'UploadUrl' },
);
export type UploadUrl = Static<typeof UploadUrl>;

export const createUploadUrl = defineCreation('deployments', {
  operationId: 'createUploadUrl',
  method: 'post',
  path: '/v2/deployments/{deployment_id}/upload-url',
  summary: 'A URL to upload the source of a revision to.',
  tags: ['deployments (v2)'],
  access: 'principal',
  permission: 'deployments:update',
  params: DeploymentParams,
  body: UploadUrlRequest,
  bodyOptional: true,
  bodyLimitBytes: 65_536,
  responses: {
    200: {
      description: 'Where to put the archive.',
      schema: UploadUrl,
      example: {
        upload_url:
          'https://agents.example.com/v2/uploads/0192f7a0-0000-7000-8000-000000000003?expires=1795262400&signature=c2lnbmF0dXJl',
        object_path:
          'deployments/0192f7a0-0000-7000-8000-000000000001/sources/0192f7a0-0000-7000-8000-000000000003.tar.gz',
      },
    },
    400: BadRequestResponse,
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
    404: NotFoundResponse,
    422: InvalidResponse,
  },
  examples: { body: { supports_upload_headers: true } },
});

/** The signature in its URL replaces a key: the path is among `SELF_PROVEN_PATHS`. */
export const putUpload = defineOperation({
  operationId: 'putUpload',
  method: 'put',
  path: '/v2/uploads/{upload_id}',
  summary: 'Upload an archive to a URL that `upload-url` gave. The last one before the archive is used counts.',
  tags: ['deployments (v2)'],
  access: 'public',
  params: Type.Object({ upload_id: Uuid }),
  query: Type.Object({
    expires: Type.Integer({ minimum: 0, description: 'Seconds since 1970.' }),
    signature: Type.String({ minLength: 1, maxLength: 256 }),
  }),
  headers: {
    'content-type': `\`${UPLOAD_CONTENT_TYPE}\`.`,
    [UPLOAD_RANGE_HEADER]: `Bytes at least and at most, as \`0,${UPLOAD_BYTES_MAX}\`; never more than that.`,
  },
  responses: {
    200: { description: 'The archive is kept.' },
    400: { ...BadRequestResponse, example: { detail: 'The upload is smaller than 10 bytes, against its range.' } },
    403: { ...ForbiddenResponse, example: { detail: 'This upload URL is not valid, or has expired.' } },
    409: {
      description: 'A revision uses the archive already.',
      schema: ErrorResponse,
      example: { detail: 'The archive of this upload is in use: ask for another upload URL.' },
    },
    413: {
      description: 'The archive is too large.',
      schema: ErrorResponse,
      example: { detail: `Request body is larger than ${UPLOAD_BYTES_MAX} bytes` },
    },
    415: {
      description: 'The content type is another one.',
      schema: ErrorResponse,
      example: { detail: `An upload has the content type ${UPLOAD_CONTENT_TYPE}.` },
    },
    422: InvalidResponse,
    507: {
      description: 'The deployment, its workspace or the platform keeps as much as it may.',
      schema: ErrorResponse,
      example: {
        detail:
          'There is no room for it: sources, builds and images of this deployment take 53687091200 bytes, of 53687091200 that they may.',
      },
    },
  },
});
