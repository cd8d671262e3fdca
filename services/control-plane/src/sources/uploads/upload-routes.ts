import { createUploadUrl, putUpload } from '@runyard/contracts';
import { type BoundOperation, bind, holdStreamBuffers, ok } from '@runyard/service-kit';
import type { Uploads } from './uploads.ts';

export function uploadRoutes(uploads: Uploads): BoundOperation[] {
  return [
    bind(createUploadUrl, async ({ caller, params, body }) =>
      ok(
        await uploads.issue(caller, params.deployment_id.toLowerCase(), {
          headers: body.supports_upload_headers === true,
        }),
      ),
    ),
    bind(putUpload, async ({ params, query, raw, res }) => {
      const grant = { uploadId: params.upload_id.toLowerCase(), expires: query.expires };
      await uploads.receive(grant, query.signature, raw, () => holdStreamBuffers(res));
      return { status: 200 };
    }),
  ];
}
