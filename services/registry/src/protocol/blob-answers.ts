import { pipeline } from 'node:stream/promises';
import { isUuid } from '@runyard/contracts';
import { type Place, pathOf } from '@runyard/image-registry';
import { type Request, reserveStreamBuffers } from '@runyard/service-kit';
import { rangeOf } from '../blobs/blobs.ts';
import { RegistryError } from '../registry-error.ts';
import type { ImageOwner } from '../stored-images/image-owner.ts';
import type { Upload } from '../stored-images/registry-store.ts';
import { parseRange, startOf } from './byte-range.ts';
import { type Exchange, queryOf, send, unsupported } from './exchange.ts';

/** Sends a blob, or the requested range of it. */
export async function sendBlob(
  { dependencies, req, res }: Exchange,
  { deploymentId, digest }: Place & { digest: string },
): Promise<void> {
  const { blobs } = dependencies;
  const isHead = req.method === 'HEAD';
  // Image tools ask so for what they need not push again.
  if (isHead) await blobs.keep(deploymentId, digest);
  const { size, open } = await blobs.find(deploymentId, digest);
  const asked = isHead ? null : parseRange(req.headers.range, size);
  const range = asked ?? { first: 0, last: size - 1 };
  res.writeHead(asked ? 206 : 200, {
    'content-type': 'application/octet-stream',
    'content-length': range.last - range.first + 1,
    'accept-ranges': 'bytes',
    ...(asked && { 'content-range': `bytes ${asked.first}-${asked.last}/${size}` }),
    'docker-content-digest': digest,
  });
  if (isHead) res.end();
  else await pipeline(open(range), res);
}

/** Deletes a blob, unless an image contains it. */
export async function deleteBlob(
  exchange: Exchange,
  { deploymentId, digest }: Place & { digest: string },
): Promise<void> {
  await exchange.dependencies.deletion.deleteBlob(deploymentId, digest);
  send(exchange, 202);
}

/** Sends how much of an upload has come. */
export async function sendUploadStatus(exchange: Exchange, place: Place & { id: string }): Promise<void> {
  if (place.id === '') throw unsupported(exchange);
  const upload = await exchange.dependencies.blobs.upload(place.deploymentId, uploadId(place.id));
  sendUpload(exchange, 204, place, upload);
}

/** Handles an upload: its begin, its parts, its end and its cancellation. */
export async function answerUpload(
  exchange: Exchange,
  place: Place & { id: string },
  owner: ImageOwner,
): Promise<void> {
  const { id } = place;
  const { method, headers } = exchange.req;
  const { blobs } = exchange.dependencies;
  if (id === '') {
    if (method === 'POST') return beginUpload(exchange, place, owner);
    throw unsupported(exchange);
  }
  switch (method) {
    case 'PATCH': {
      const start = startOf(headers['content-range']);
      return sendUpload(exchange, 202, place, await blobs.append(owner, uploadId(id), bytesOf(exchange), start));
    }
    case 'PUT': {
      const { digest } = queryOf(exchange);
      if (digest === undefined) throw new RegistryError('DIGEST_INVALID', 'The query says which digest it has.');
      const start = startOf(headers['content-range']);
      await blobs.finish(owner, uploadId(id), { digest, body: bytesOf(exchange), start });
      return sendBlobCreated(exchange, place, digest);
    }
    case 'DELETE':
      await blobs.cancel(owner.deploymentId, uploadId(id));
      return send(exchange, 204);
    default:
      throw unsupported(exchange);
  }
}

/**
 * Begins an upload. All images of a deployment share their blobs, so a blob to mount exists already or has to be
 * pushed. No other deployment is looked into.
 */
async function beginUpload(exchange: Exchange, place: Place, owner: ImageOwner): Promise<void> {
  const { deploymentId } = place;
  const { blobs } = exchange.dependencies;
  const { digest, mount } = queryOf(exchange);
  if (mount !== undefined && (await blobs.keep(deploymentId, mount))) return sendBlobCreated(exchange, place, mount);
  const upload = await blobs.begin(deploymentId);
  if (digest === undefined) return sendUpload(exchange, 202, place, upload);
  await blobs.finish(owner, upload.id, { digest, body: bytesOf(exchange) });
  sendBlobCreated(exchange, place, digest);
}

/**
 * Returns the body for writing to the disk, and counts its buffers among those of concurrent uploads.
 *
 * @throws UnavailableError
 */
function bytesOf({ req, res }: Exchange): Request {
  reserveStreamBuffers(res);
  return req;
}

function sendBlobCreated(exchange: Exchange, place: Place, digest: string): void {
  const headers = { location: `${pathOf(place)}/blobs/${digest}`, 'docker-content-digest': digest };
  send(exchange, 201, { headers });
}

function sendUpload(exchange: Exchange, status: number, place: Place, upload: Upload): void {
  const location = `${pathOf(place)}/blobs/uploads/${upload.id}`;
  send(exchange, status, { headers: { location, range: rangeOf(upload.size), 'docker-upload-uuid': upload.id } });
}

function uploadId(text: string): string {
  if (isUuid(text)) return text;
  throw new RegistryError('BLOB_UPLOAD_UNKNOWN', 'There is no such upload.');
}
