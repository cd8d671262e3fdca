import { pipeline } from 'node:stream/promises';
import { isUuid } from '@runyard/contracts';
import { outageOf } from '@runyard/database';
import {
  ClientGoneError,
  PayloadTooLargeError,
  type Request,
  type RequestHandler,
  type Response,
  readBody,
} from '@runyard/service-kit';
import { type Blobs, rangeOf } from './blobs.ts';
import { rangeAsked, startOf } from './byte-range.ts';
import { MANIFEST_LIMIT_BYTES, type Manifests } from './manifests.ts';
import { linkToRest, pageAsked } from './pages.ts';
import { challengeOf, refuse } from './refusal.ts';
import {
  nameOf,
  type Place,
  pathOf,
  REGISTRY_SEGMENT,
  REGISTRY_USER,
  type RegistryAddress,
  type RegistryResource,
  resourceAt,
} from './registry-address.ts';
import { RegistryError } from './registry-error.ts';
import type { RegistryStore, Upload } from './registry-store.ts';
import type { HeldGrant, RegistryGrant, RegistryTokens } from './registry-tokens.ts';

export interface RegistryParts {
  address: RegistryAddress;
  tokens: RegistryTokens;
  store: RegistryStore;
  blobs: Blobs;
  manifests: Manifests;
}

const BEARER_LIFETIME_MS = 15 * 60_000;

/**
 * The distribution specification over HTTP, as far as pushing and pulling need it: what `docker push` and its like speak.
 * Paths that are not the registry's are left to others.
 */
export function registryHandler(parts: RegistryParts): RequestHandler {
  return (req, res, next) => {
    const resource = resourceAt(req.path);
    if (!resource) {
      next();
      return;
    }
    res.locals.route = `/v2/${REGISTRY_SEGMENT}/…`;
    res.setHeader('docker-distribution-api-version', 'registry/2.0');
    new Exchange(parts, req, res).answer(resource).catch((error: unknown) => {
      if (error instanceof RegistryError) refuse(req, res, error, challengeOf(parts.address, resource));
      else next(isGone(error) ? new ClientGoneError(error) : (outageOf(error) ?? error));
    });
  };
}

/** One request and its answer. */
class Exchange {
  readonly #parts: RegistryParts;
  readonly #req: Request;
  readonly #res: Response;

  constructor(parts: RegistryParts, req: Request, res: Response) {
    this.#parts = parts;
    this.#req = req;
    this.#res = res;
  }

  async answer(resource: RegistryResource): Promise<void> {
    const grant = this.#grant();
    if (resource.kind === 'ping') return this.#send(200, { body: {} });
    if (resource.kind === 'token') return this.#giveToken(grant);
    if (resource.kind === 'unknown') throw new RegistryError('NAME_UNKNOWN', 'There is nothing by this name.');
    if (resource.kind === 'catalog') return this.#listRepositories(grant);
    await this.#allow(grant, resource.deploymentId);
    const { method } = this.#req;
    const isRead = method === 'GET' || method === 'HEAD';
    switch (resource.kind) {
      case 'tags':
        if (isRead) return this.#listTags(resource);
        break;
      case 'blob':
        if (isRead) return this.#sendBlob(resource);
        break;
      case 'manifest':
        if (isRead) return this.#sendManifest(resource);
        if (method === 'PUT') return this.#takeManifest(resource);
        break;
      case 'upload':
        return this.#upload(resource);
    }
    throw new RegistryError('UNSUPPORTED', `This registry does not do ${method} here.`);
  }

  /** What the credential allows; a token is the password of the well-known user, or a bearer. */
  #grant(): HeldGrant {
    const [scheme = '', value = ''] = (this.#req.headers.authorization ?? '').split(' ');
    const token =
      scheme.toLowerCase() === 'bearer' ? value : scheme.toLowerCase() === 'basic' ? passwordOf(value) : undefined;
    const grant = token === undefined ? null : this.#parts.tokens.open(token);
    if (grant) return grant;
    throw new RegistryError('UNAUTHORIZED', 'A push token of the deployment is needed.');
  }

  async #allow(grant: RegistryGrant, deploymentId: string): Promise<void> {
    const { method } = this.#req;
    const isAllowed = grant.deploymentId === deploymentId && (grant.mayPush || method === 'GET' || method === 'HEAD');
    if (!isAllowed || !(await this.#parts.store.takesImages(deploymentId))) {
      throw new RegistryError('DENIED', 'This token is not for that.');
    }
  }

  /** Image tools trade a password for a bearer token, which they then show with each request. It ends with the password. */
  async #giveToken(grant: HeldGrant): Promise<void> {
    if (this.#req.method !== 'GET') throw new RegistryError('UNSUPPORTED', 'Ask for a token with GET.');
    const lifetimeMs = Math.min(BEARER_LIFETIME_MS, grant.expiresAt - Date.now());
    const token = this.#parts.tokens.issue(grant, lifetimeMs);
    const expires_in = Math.floor(lifetimeMs / 1000);
    this.#send(200, {
      headers: { 'cache-control': 'no-store' },
      body: { token, access_token: token, expires_in, issued_at: new Date().toISOString() },
    });
  }

  /** Those of the token's deployment: it is for no other. */
  async #listRepositories({ deploymentId }: RegistryGrant): Promise<void> {
    await this.#allow({ deploymentId, mayPush: false }, deploymentId);
    const page = pageAsked(queryOf(this.#req));
    const names = await this.#parts.store.repositories(deploymentId, page);
    const repositories = names.map((name) => nameOf({ deploymentId, name }));
    this.#send(200, { headers: linkToRest('/v2/_catalog', names, page), body: { repositories } });
  }

  async #listTags(place: Place): Promise<void> {
    const page = pageAsked(queryOf(this.#req));
    const tags = await this.#parts.store.tags(place, page);
    if (tags === null) throw new RegistryError('NAME_UNKNOWN', 'Nothing was pushed by this name.');
    const headers = linkToRest(`${pathOf(place)}/tags/list`, tags, page);
    this.#send(200, { headers, body: { name: nameOf(place), tags } });
  }

  async #sendBlob({ deploymentId, digest }: Place & { digest: string }): Promise<void> {
    const { size, open } = await this.#parts.blobs.find(deploymentId, digest);
    const isHead = this.#req.method === 'HEAD';
    const asked = isHead ? null : rangeAsked(this.#req.headers.range, size);
    const range = asked ?? { first: 0, last: size - 1 };
    this.#res.writeHead(asked ? 206 : 200, {
      'content-type': 'application/octet-stream',
      'content-length': range.last - range.first + 1,
      'accept-ranges': 'bytes',
      ...(asked && { 'content-range': `bytes ${asked.first}-${asked.last}/${size}` }),
      'docker-content-digest': digest,
    });
    if (isHead) this.#res.end();
    else await pipeline(open(range), this.#res);
  }

  async #sendManifest({ deploymentId, name, reference }: Place & { reference: string }): Promise<void> {
    const { digest, mediaType, content } = await this.#parts.manifests.find({ deploymentId, name }, reference);
    this.#res.writeHead(200, {
      'content-type': mediaType,
      'content-length': content.length,
      'docker-content-digest': digest,
    });
    this.#res.end(this.#req.method === 'HEAD' ? undefined : content);
  }

  async #takeManifest({ deploymentId, name, reference }: Place & { reference: string }): Promise<void> {
    const content = await readBody(this.#req, MANIFEST_LIMIT_BYTES).catch((error: unknown) => {
      throw error instanceof PayloadTooLargeError ? new RegistryError('SIZE_INVALID', error.message) : error;
    });
    const contentType = this.#req.headers['content-type'];
    const digest = await this.#parts.manifests.put({ deploymentId, name }, reference, content, contentType);
    this.#send(201, {
      headers: { location: `${pathOf({ deploymentId, name })}/manifests/${digest}`, 'docker-content-digest': digest },
    });
  }

  async #upload(place: Place & { id: string }): Promise<void> {
    const { deploymentId, id } = place;
    const { blobs } = this.#parts;
    const { digest } = queryOf(this.#req);
    switch (this.#req.method) {
      case 'POST':
        if (id === '') return this.#beginUpload(place);
        break;
      case 'GET':
        if (id !== '') return this.#sendUpload(204, place, await blobs.upload(deploymentId, uploadId(id)));
        break;
      case 'PATCH': {
        const upload = await blobs.append(
          deploymentId,
          uploadId(id),
          this.#req,
          startOf(this.#req.headers['content-range']),
        );
        return this.#sendUpload(202, place, upload);
      }
      case 'PUT': {
        if (digest === undefined) throw new RegistryError('DIGEST_INVALID', 'The query says which digest it has.');
        await blobs.finish(deploymentId, uploadId(id), {
          digest,
          body: this.#req,
          start: startOf(this.#req.headers['content-range']),
        });
        return this.#sendBlobMade(place, digest);
      }
      case 'DELETE':
        await blobs.cancel(deploymentId, uploadId(id));
        return this.#send(204);
    }
    throw new RegistryError('UNSUPPORTED', `This registry does not do ${this.#req.method} here.`);
  }

  /** Blobs are shared by all images of a deployment: one asked to be mounted is there already, or has to be pushed. */
  async #beginUpload(place: Place): Promise<void> {
    const { deploymentId } = place;
    const { blobs } = this.#parts;
    const { digest, mount } = queryOf(this.#req);
    if (mount !== undefined && (await blobs.exists(deploymentId, mount))) return this.#sendBlobMade(place, mount);
    const upload = await blobs.begin(deploymentId);
    if (digest === undefined) return this.#sendUpload(202, place, upload);
    await blobs.finish(deploymentId, upload.id, { digest, body: this.#req });
    this.#sendBlobMade(place, digest);
  }

  #sendBlobMade(place: Place, digest: string): void {
    const headers = { location: `${pathOf(place)}/blobs/${digest}`, 'docker-content-digest': digest };
    this.#send(201, { headers });
  }

  #sendUpload(status: number, place: Place, upload: Upload): void {
    const location = `${pathOf(place)}/blobs/uploads/${upload.id}`;
    this.#send(status, { headers: { location, range: rangeOf(upload.size), 'docker-upload-uuid': upload.id } });
  }

  #send(status: number, { headers = {}, body }: { headers?: Record<string, string>; body?: object } = {}): void {
    const text = body === undefined ? '' : JSON.stringify(body);
    this.#res.writeHead(status, {
      ...headers,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(status === 204 ? {} : { 'content-length': Buffer.byteLength(text) }),
    });
    this.#res.end(text);
  }
}

/** The connection broke while a blob was on its way, in or out. */
function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET';
}

function uploadId(text: string): string {
  if (isUuid(text)) return text;
  throw new RegistryError('BLOB_UPLOAD_UNKNOWN', 'There is no such upload.');
}

function queryOf(req: Request): Record<string, string | undefined> {
  return Object.fromEntries(new URL(req.url, 'http://registry').searchParams);
}

function passwordOf(basic: string): string | undefined {
  const [user, ...password] = Buffer.from(basic, 'base64').toString('utf8').split(':');
  return user === REGISTRY_USER ? password.join(':') : undefined;
}
