import { createHash } from 'node:crypto';

/** A small registry client that sends the requests of `docker push` and `docker pull`. */
export class ImageClient {
  readonly #origin: string;
  readonly #password: string;
  #bearer: string | undefined;

  /** @param password of the user `oauth2accesstoken` */
  constructor(origin: string, password: string) {
    this.#origin = origin;
    this.#password = password;
  }

  /** Sends a request. Like image tools, it exchanges its password for a bearer token when it is challenged. */
  async send(
    method: string,
    path: string,
    init: { body?: Uint8Array<ArrayBuffer>; headers?: Record<string, string> } = {},
  ) {
    const request = () => {
      const authorization: Record<string, string> = this.#bearer ? { authorization: `Bearer ${this.#bearer}` } : {};
      return fetch(new URL(path, this.#origin), { method, ...init, headers: { ...authorization, ...init.headers } });
    };
    const answer = await request();
    if (answer.status !== 401 || this.#bearer !== undefined) return answer;
    const realm = /^Bearer realm="([^"]+)",service="[^"]+"/.exec(answer.headers.get('www-authenticate') ?? '')?.[1];
    if (realm === undefined) throw new Error('the registry does not say where tokens are');
    const basic = Buffer.from(`oauth2accesstoken:${this.#password}`).toString('base64');
    // The realm has the public address; the test calls the server itself.
    const asked = await fetch(new URL(new URL(realm).pathname, this.#origin), {
      headers: { authorization: `Basic ${basic}` },
    });
    if (asked.status !== 200) return asked;
    this.#bearer = ((await asked.json()) as { token: string }).token;
    return request();
  }

  /** Pushes a blob in pieces. `docker push` sends one, other tools many. */
  async pushBlob(repository: string, pieces: Buffer[], digest = digestOf(Buffer.concat(pieces))): Promise<Response> {
    const begun = await this.send('POST', `/v2/${repository}/blobs/uploads/`);
    let location = begun.headers.get('location')!;
    for (const piece of pieces) {
      location = (await this.send('PATCH', location, { body: toBody(piece) })).headers.get('location')!;
    }
    return this.send('PUT', `${location}?digest=${digest}`);
  }

  /** Pushes an image of one layer and returns its digest. */
  async pushImage(
    repository: string,
    tag: string,
    layer: Buffer = Buffer.from('a layer'),
    config: Buffer = Buffer.from('{"architecture":"amd64","os":"linux"}'),
  ): Promise<string> {
    await this.pushBlob(repository, [config]);
    await this.pushBlob(repository, [layer]);
    const manifest = manifestOf(config, [layer]);
    const answer = await this.putManifest(repository, tag, manifest);
    if (answer.status !== 201) throw new Error(`the manifest was refused: ${await answer.text()}`);
    return digestOf(manifest);
  }

  putManifest(repository: string, reference: string, manifest: Buffer, type = MANIFEST_TYPE): Promise<Response> {
    const headers = { 'content-type': type };
    return this.send('PUT', `/v2/${repository}/manifests/${reference}`, { body: toBody(manifest), headers });
  }
}

export const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json';
export const LIST_TYPE = 'application/vnd.oci.image.index.v1+json';

export function manifestOf(config: Buffer, layers: Buffer[], algorithm = 'sha256'): Buffer {
  const described = (bytes: Buffer, mediaType: string) => ({
    mediaType,
    digest: digestOf(bytes, algorithm),
    size: bytes.length,
  });
  return Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST_TYPE,
      config: described(config, 'application/vnd.oci.image.config.v1+json'),
      layers: layers.map((layer) => described(layer, 'application/vnd.oci.image.layer.v1.tar+gzip')),
    }),
  );
}

/** Makes a manifest that refers to another one. */
export function referrerOf(subject: string, config: Buffer, more: object = {}): Buffer {
  const plain = JSON.parse(manifestOf(config, []).toString('utf8'));
  return Buffer.from(
    JSON.stringify({ ...plain, subject: { mediaType: MANIFEST_TYPE, digest: subject, size: 1 }, ...more }),
  );
}

/** Makes a list of images for several architectures. */
export function listOf(digests: string[]): Buffer {
  return Buffer.from(JSON.stringify({ schemaVersion: 2, manifests: digests.map((digest) => ({ digest, size: 1 })) }));
}

export function digestOf(bytes: Buffer, algorithm = 'sha256'): string {
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
}

const toBody = (bytes: Buffer) => Uint8Array.from(bytes);
