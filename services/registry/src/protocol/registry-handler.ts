import { toUnavailableError } from '@runyard/database';
import { REGISTRY_SEGMENT, type RegistryResource, resourceAt } from '@runyard/image-registry';
import { ClientDisconnectedError, type RequestHandler } from '@runyard/service-kit';
import { RegistryError } from '../registry-error.ts';
import type { ImageOwner } from '../stored-images/image-owner.ts';
import { grantOf, grantOfPassword, requireGrant, sendToken } from './access.ts';
import { answerUpload, deleteBlob, sendBlob, sendUploadStatus } from './blob-answers.ts';
import { type Exchange, type RegistryDependencies, send, unsupported } from './exchange.ts';
import {
  deleteManifest,
  sendManifest,
  sendReferrers,
  sendRepositories,
  sendTags,
  takeManifest,
} from './manifest-answers.ts';
import { challengeOf, refuse } from './refusal.ts';

/**
 * Serves the distribution specification over HTTP, as far as pushing, pulling and deleting images need it. Passes other
 * paths to the next handler.
 */
export function registryHandler(dependencies: RegistryDependencies): RequestHandler {
  return (req, res, next) => {
    const resource = resourceAt(req.path);
    if (!resource) {
      next();
      return;
    }
    res.locals.route = `/v2/${REGISTRY_SEGMENT}/…`;
    res.setHeader('docker-distribution-api-version', 'registry/2.0');
    answer({ dependencies, req, res }, resource).catch((error: unknown) => {
      if (error instanceof RegistryError) refuse(res, error, challengeOf(dependencies.address, resource, req.method));
      else next(isConnectionBroken(error) ? new ClientDisconnectedError(error) : (toUnavailableError(error) ?? error));
    });
  };
}

async function answer(exchange: Exchange, resource: RegistryResource): Promise<void> {
  // Only what is exchanged may be a token of an older release, for which control-plane is asked.
  const isExchange = resource.kind === 'token' && exchange.req.method === 'GET';
  const grant = isExchange ? await grantOfPassword(exchange) : grantOf(exchange);
  if (resource.kind === 'ping') return send(exchange, 200, { body: {} });
  if (resource.kind === 'token') return sendToken(exchange, grant);
  if (resource.kind === 'unknown') throw new RegistryError('NAME_UNKNOWN', 'There is nothing by this name.');
  // The catalog is that of the token's deployment.
  const place = resource.kind === 'catalog' ? { deploymentId: grant.deploymentId } : resource;
  const owner = await requireGrant(exchange, grant, place);
  if (owner) return answerWrite(exchange, resource, owner);
  switch (resource.kind) {
    case 'upload':
      return sendUploadStatus(exchange, resource);
    case 'catalog':
      return sendRepositories(exchange, place.deploymentId);
    case 'tags':
      return sendTags(exchange, resource);
    case 'blob':
      return sendBlob(exchange, resource);
    case 'manifest':
      return sendManifest(exchange, resource);
    case 'referrers':
      return sendReferrers(exchange, resource);
  }
}

/** Answers a request that changes something. */
async function answerWrite(exchange: Exchange, resource: RegistryResource, owner: ImageOwner): Promise<void> {
  const { method } = exchange.req;
  if (resource.kind === 'upload') return answerUpload(exchange, resource, owner);
  if (resource.kind === 'manifest' && method === 'PUT') return takeManifest(exchange, resource, owner);
  if (resource.kind === 'manifest' && method === 'DELETE') return deleteManifest(exchange, resource);
  if (resource.kind === 'blob' && method === 'DELETE') return deleteBlob(exchange, resource);
  throw unsupported(exchange);
}

/** Returns whether the connection broke while a blob was being received or sent. */
function isConnectionBroken(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET';
}
