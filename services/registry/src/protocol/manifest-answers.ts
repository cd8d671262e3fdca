import { MANIFEST_LIMIT_BYTES, type Place, pathOf, repositoryName } from '@runyard/image-registry';
import { PayloadTooLargeError, readAdmittedBody } from '@runyard/service-kit';
import { RegistryError } from '../registry-error.ts';
import type { ImageOwner } from '../stored-images/image-owner.ts';
import { type Exchange, queryOf, send } from './exchange.ts';
import { nextPageLink, parsePage } from './pagination.ts';

export async function sendManifest(
  { dependencies, req, res }: Exchange,
  { deploymentId, name, reference }: Place & { reference: string },
): Promise<void> {
  const { digest, mediaType, content } = await dependencies.manifests.find({ deploymentId, name }, reference);
  res.writeHead(200, {
    'content-type': mediaType,
    'content-length': content.length,
    'docker-content-digest': digest,
  });
  res.end(req.method === 'HEAD' ? undefined : content);
}

export async function takeManifest(
  exchange: Exchange,
  { deploymentId, name, reference }: Place & { reference: string },
  owner: ImageOwner,
): Promise<void> {
  const { dependencies, req, res } = exchange;
  const content = await readAdmittedBody(req, res, MANIFEST_LIMIT_BYTES).catch((error: unknown) => {
    throw error instanceof PayloadTooLargeError ? new RegistryError('SIZE_INVALID', error.message) : error;
  });
  const place = { deploymentId, name };
  const { digest, subject } = await dependencies.manifests.put(
    { owner, name },
    reference,
    content,
    req.headers['content-type'],
  );
  send(exchange, 201, {
    headers: {
      location: `${pathOf(place)}/manifests/${digest}`,
      'docker-content-digest': digest,
      // Without this header, clients would maintain a list of referrers themselves, under a tag.
      ...(subject !== null && { 'oci-subject': subject }),
    },
  });
}

/** Deletes a manifest by a tag or a digest, and the blobs that no other image contains. */
export async function deleteManifest(
  exchange: Exchange,
  { deploymentId, name, reference }: Place & { reference: string },
): Promise<void> {
  await exchange.dependencies.deletion.delete({ deploymentId, name }, reference);
  send(exchange, 202);
}

/** Sends a page of a manifest's referrers as an image index, which may be empty. */
export async function sendReferrers(
  exchange: Exchange,
  { deploymentId, name, subject }: Place & { subject: string },
): Promise<void> {
  const { artifactType = '', last: after } = queryOf(exchange);
  const place = { deploymentId, name };
  const wanted = { artifactType: artifactType || undefined, after };
  const { index, restAfter } = await exchange.dependencies.manifests.referrers(place, subject, wanted);
  const rest = new URLSearchParams({ last: restAfter ?? '' });
  if (artifactType) rest.set('artifactType', artifactType);
  const path = `${pathOf(place)}/referrers/${subject}`;
  send(exchange, 200, {
    headers: {
      'content-type': index.mediaType,
      ...(artifactType && { 'oci-filters-applied': 'artifactType' }),
      ...(restAfter !== null && { link: `<${path}?${rest}>; rel="next"` }),
    },
    body: index,
  });
}

export async function sendTags(exchange: Exchange, place: Place): Promise<void> {
  const page = parsePage(queryOf(exchange));
  const tags = await exchange.dependencies.store.tags(place, page);
  if (tags === null) throw new RegistryError('NAME_UNKNOWN', 'Nothing was pushed by this name.');
  const headers = nextPageLink(`${pathOf(place)}/tags/list`, tags, page);
  send(exchange, 200, { headers, body: { name: repositoryName(place), tags } });
}

/** Sends the names of the deployment's images. */
export async function sendRepositories(exchange: Exchange, deploymentId: string): Promise<void> {
  const page = parsePage(queryOf(exchange));
  const names = await exchange.dependencies.store.repositories(deploymentId, page);
  const repositories = names.map((name) => repositoryName({ deploymentId, name }));
  send(exchange, 200, { headers: nextPageLink('/v2/_catalog', names, page), body: { repositories } });
}
