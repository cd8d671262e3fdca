import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { arch } from 'node:os';
import { gzipSync } from 'node:zlib';
import { Header } from 'tar';
import { digestOf, MANIFEST_TYPE } from './image-client.ts';

export const LOGIN = { username: 'operator', password: 'the password of the base registry' };
const TOKEN = 'a token of the base registry';
const REPOSITORY = 'runyard/agent-server';
const MACHINE = { x64: 'amd64' }[arch() as 'x64'] ?? arch();

/**
 * A fake of a registry with the base image of projects. Like real registries it requires a token, which another server
 * issues for a login, has images for two architectures, and redirects layers to a third server, which must not get the
 * token.
 */
export class BaseRegistry {
  readonly #servers: Server[] = [];
  /** Content of manifests and blobs, by digest; `20` is the tag. */
  readonly #content = new Map<string, Buffer>();
  /** Requests with a token to the registry itself, and requests to the server of the layers. */
  readonly asked: string[] = [];
  readonly layersAsked: { path: string; authorization: string | undefined }[] = [];
  /** Statuses with which the next requests with a token fail. */
  readonly failures: number[] = [];
  #host = '';
  #layers = '';
  #tokens = '';

  static async start(): Promise<BaseRegistry> {
    const registry = new BaseRegistry();
    registry.#tokens = await registry.#listen((...exchange) => registry.#giveToken(...exchange));
    registry.#layers = await registry.#listen((...exchange) => registry.#sendLayer(...exchange));
    registry.#host = await registry.#listen((...exchange) => registry.#answer(...exchange));
    registry.publish();
    return registry;
  }

  get image(): string {
    return `${this.#host}/${REPOSITORY}:20`;
  }

  /** Publishes an image under the tag. @returns digests of its layers */
  publish({
    labels = { 'io.runyard.agent-server': '1' } as object,
    env = [] as string[],
    file = 'app/main.js',
  } = {}): string[] {
    const layers = [tarOf(file), tarOf('app/license')];
    const config = {
      architecture: MACHINE,
      os: 'linux',
      created: '2026-01-01T00:00:00Z',
      config: { User: '', Env: ['PATH=/usr/bin', ...env], Entrypoint: ['runyard-agent'], Labels: labels },
      rootfs: { type: 'layers', diff_ids: layers.map((bytes) => digestOf(bytes)) },
      history: [{ created_by: 'one' }, { created_by: 'two' }],
    };
    const packed = layers.map((layer) => gzipSync(layer));
    const described = (bytes: Buffer, mediaType: string) => {
      this.#content.set(digestOf(bytes), bytes);
      return { mediaType, digest: digestOf(bytes), size: bytes.length };
    };
    const manifestOf = (content: object) =>
      Buffer.from(
        JSON.stringify({
          schemaVersion: 2,
          mediaType: MANIFEST_TYPE,
          config: described(Buffer.from(JSON.stringify(content)), 'application/vnd.docker.container.image.v1+json'),
          layers: packed.map((bytes) => described(bytes, 'application/vnd.docker.image.rootfs.diff.tar.gzip')),
        }),
      );
    const forMachine = (architecture: string) => ({
      ...described(manifestOf({ ...config, architecture }), MANIFEST_TYPE),
      platform: { os: 'linux', architecture },
    });
    const manifests = [forMachine('s390x'), forMachine(MACHINE)];
    this.#content.set('20', Buffer.from(JSON.stringify({ schemaVersion: 2, manifests })));
    return packed.map((bytes) => digestOf(bytes));
  }

  /** Changes the bytes of a digest. */
  tamper(digest: string): void {
    const bytes = Buffer.from(this.#content.get(digest)!);
    bytes[bytes.length - 1]! ^= 1;
    this.#content.set(digest, bytes);
  }

  async close(): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    if (request.headers.authorization !== `Bearer ${TOKEN}`) {
      const realm = `http://${this.#tokens}/token`;
      const challenge = `Bearer realm="${realm}",service="base registry",scope="repository:${REPOSITORY}:pull"`;
      response.writeHead(401, { 'www-authenticate': challenge }).end();
      return;
    }
    const failure = this.failures.shift();
    const [, kind, name = ''] = new RegExp(`^/v2/${REPOSITORY}/(manifests|blobs)/(.+)$`).exec(request.url!) ?? [];
    const content = this.#content.get(name);
    if (failure !== undefined || !content) {
      response.writeHead(failure ?? 404).end();
      return;
    }
    this.asked.push(`${kind}/${name}`);
    if (kind === 'manifests') response.end(content);
    else response.writeHead(307, { location: `http://${this.#layers}/${name}?signature=1` }).end();
  }

  #giveToken(request: IncomingMessage, response: ServerResponse): void {
    const basic = Buffer.from(`${LOGIN.username}:${LOGIN.password}`).toString('base64');
    const isKnown = request.headers.authorization === `Basic ${basic}`;
    response.writeHead(isKnown ? 200 : 401).end(isKnown ? JSON.stringify({ access_token: TOKEN }) : '{}');
  }

  #sendLayer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url!.slice(1).split('?')[0]!;
    this.layersAsked.push({ path, authorization: request.headers.authorization });
    response.end(this.#content.get(path));
  }

  async #listen(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
    const server = createServer(answer);
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
}

/** Makes an archive with one empty file. */
export function tarOf(path: string): Buffer {
  const header = new Header({ path, type: 'File', mode: 0o644, size: 0, uid: 0, gid: 0, mtime: new Date(0) });
  header.encode();
  return Buffer.concat([header.block!, Buffer.alloc(1024)]);
}
