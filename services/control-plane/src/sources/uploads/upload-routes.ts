import { createUploadUrl, putUpload } from '@runyard/contracts';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, ok, reserveStreamBuffers } from '@runyard/service-kit';
import type { Uploads } from './uploads.ts';

export function uploadRoutes(uploads: Uploads, keys: IdempotencyKeys): BoundOperation[] {
  return [
    bindCreation(keys, createUploadUrl, ok, ({ caller, params, body }, keyed) => {
      const wants = { headers: body.supports_upload_headers === true };
      return uploads.issue(caller, params.deployment_id.toLowerCase(), wants, keyed);
    }),
    bind(putUpload, async ({ params, query, raw, res }) => {
      const grant = { uploadId: params.upload_id.toLowerCase(), expires: query.expires };
      await uploads.receive(grant, query.signature, raw, () => reserveStreamBuffers(res));
      return { status: 200 };
    }),
  ];
}
