import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { ApiError } from './api-error.ts';
import { notFound, type ObjectStore, type StoredObject, type WatchEvent } from './object-store.ts';

export interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

export interface ApiServerOptions {
  store: ObjectStore;
  token: string;
  /** The caller's rules in the namespace, as the Role in infra/kubernetes grants them. */
  rules: Rule[];
  /**
   * Reads the log of a container line by line until it ends. Returns a function that stops reading, or the reason why
   * there is no log.
   */
  readLog(pod: string, query: URLSearchParams, onLine: (line: string) => void, onEnd: () => void): () => void;
  removePod(name: string, graceSeconds: number | undefined): void;
}

interface Asked {
  group: string;
  namespace: string;
  resource: string;
  name: string | undefined;
  subresource: string | undefined;
}

const PATH = /^\/(?:api\/v1|apis\/([^/]+)\/[^/]+)\/namespaces\/([^/]+)\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/;

/** The part of a Kubernetes API server that the driver uses. */
export class ApiServer {
  readonly #options: ApiServerOptions;
  readonly #server: Server;
  readonly #watches = new Set<ServerResponse>();
  /** The permitted requests so far, as `verb group/resource`. */
  readonly used = new Set<string>();
  /** Errors for the next requests. */
  readonly refusals: { code: number; retryAfterSeconds?: number }[] = [];
  hasExternalMetrics = false;
  podMetrics: (() => object[]) | undefined;

  constructor(options: ApiServerOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch((error: unknown) => {
        const refusal = error instanceof ApiError ? error : new ApiError(500, 'InternalError', String(error));
        if (!response.headersSent) answer(response, refusal.code, refusal.status);
        else response.destroy();
      });
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Ends all open watches, as API servers do every few minutes. */
  endWatches(): void {
    for (const watch of this.#watches) watch.end();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, 'http://cluster');
    if (request.headers.authorization !== `Bearer ${this.#options.token}`) {
      throw new ApiError(401, 'Unauthorized', 'Unauthorized');
    }
    const refusal = this.refusals.shift();
    if (refusal) {
      if (refusal.retryAfterSeconds) response.setHeader('retry-after', refusal.retryAfterSeconds);
      throw new ApiError(refusal.code, 'Refused', `refused with ${refusal.code}`);
    }
    if (pathname === '/apis/external.metrics.k8s.io/v1beta1' && this.hasExternalMetrics) {
      return answer(response, 200, { kind: 'APIResourceList', resources: [] });
    }
    const [, group = '', namespace, resource, name, subresource] = PATH.exec(pathname) ?? [];
    if (!namespace || !resource)
      throw new ApiError(404, 'NotFound', 'the server could not find the requested resource');
    const asked: Asked = { group, namespace, resource, name, subresource };
    const verb = verbOf(request.method!, asked, searchParams);
    this.#allow(verb, asked);
    if (group === 'metrics.k8s.io') {
      if (!this.podMetrics) throw new ApiError(404, 'NotFound', 'the server could not find the requested resource');
      return answer(response, 200, { kind: 'PodMetricsList', items: this.podMetrics() });
    }
    await this.#answer(verb, asked, searchParams, request, response);
  }

  #allow(verb: string, { group, resource, subresource, namespace }: Asked): void {
    const full = subresource ? `${resource}/${subresource}` : resource;
    const isAllowed = this.#options.rules.some(
      (rule) => rule.apiGroups.includes(group) && rule.resources.includes(full) && rule.verbs.includes(verb),
    );
    if (!isAllowed) {
      const where = `resource "${full}" in API group "${group}" in the namespace "${namespace}"`;
      throw new ApiError(
        403,
        'Forbidden',
        `User "system:serviceaccount:runyard:control-plane" cannot ${verb} ${where}`,
      );
    }
    this.used.add(`${verb} ${group}/${full}`);
  }

  async #answer(
    verb: string,
    asked: Asked,
    query: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { store, readLog } = this.#options;
    const { resource, name = '', subresource } = asked;
    const found = store.find(resource, name);
    if (subresource === 'log') {
      if (!found) throw notFound(resource, name);
      const stop = readLog(
        name,
        query,
        (line) => response.write(`${line}\n`),
        () => response.end(),
      );
      response.on('close', stop).flushHeaders();
      return;
    }
    switch (verb) {
      case 'get':
        if (!found) throw notFound(resource, name);
        return answer(response, 200, found);
      case 'list': {
        const items = store.list(resource, query.get('labelSelector') ?? '');
        return answer(response, 200, { kind: 'List', metadata: { resourceVersion: String(store.version) }, items });
      }
      case 'watch':
        return this.#watch(resource, query, response);
      case 'patch':
        return answer(response, 200, this.#patch(asked, query, request.headers['content-type']!, await text(request)));
      case 'deletecollection': {
        const all = store.list(resource, query.get('labelSelector') ?? '');
        const grace = query.get('gracePeriodSeconds');
        for (const { metadata } of all) {
          if (resource === 'pods') this.#options.removePod(metadata.name, grace === null ? undefined : Number(grace));
          else store.remove(resource, metadata.name);
        }
        return answer(response, 200, { kind: 'Status', status: 'Success' });
      }
      default:
        throw new ApiError(405, 'MethodNotAllowed', `${verb} is not part of this fake`);
    }
  }

  #patch(asked: Asked, query: URLSearchParams, type: string, body: string): StoredObject {
    const { store } = this.#options;
    const { resource, name = '', namespace } = asked;
    const given = JSON.parse(body) as StoredObject;
    if (type === 'application/merge-patch+json') return store.mergePatch(resource, name, given);
    if (type !== 'application/apply-patch+yaml') throw new ApiError(415, 'UnsupportedMediaType', type);
    const manager = query.get('fieldManager');
    if (!manager) throw new ApiError(422, 'Invalid', 'fieldManager: Required value: is required for apply patch');
    if (given.metadata.name !== name)
      throw new ApiError(400, 'BadRequest', 'the name of the object does not match the URL');
    // Applying an object that does not exist creates it.
    if (!store.find(resource, name)) this.#allow('create', asked);
    given.metadata.namespace = namespace;
    return store.apply(resource, name, manager, query.get('force') === 'true', given);
  }

  #watch(resource: string, query: URLSearchParams, response: ServerResponse): void {
    const { store } = this.#options;
    const selector = query.get('labelSelector') ?? '';
    const names = selector
      .split(',')
      .filter(Boolean)
      .map((each) => each.split('='));
    const tell = ({ type, plural, object }: WatchEvent) => {
      if (plural !== resource || !names.every(([name, value]) => object.metadata.labels?.[name!] === value)) return;
      response.write(`${JSON.stringify({ type, object })}\n`);
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    try {
      for (const event of store.eventsSince(resource, Number(query.get('resourceVersion')))) tell(event);
    } catch (error) {
      response.end(`${JSON.stringify({ type: 'ERROR', object: (error as ApiError).status })}\n`);
      return;
    }
    if (query.get('allowWatchBookmarks') === 'true') {
      const metadata = { resourceVersion: String(store.version) };
      response.write(`${JSON.stringify({ type: 'BOOKMARK', object: { kind: 'Pod', metadata } })}\n`);
    }
    response.flushHeaders();
    this.#watches.add(response);
    const forget = store.onEvent(tell);
    response.on('close', () => {
      forget();
      this.#watches.delete(response);
    });
  }
}

function verbOf(method: string, { name, subresource }: Asked, query: URLSearchParams): string {
  if (method === 'PATCH') return 'patch';
  if (method === 'DELETE') return name ? 'delete' : 'deletecollection';
  if (name || subresource) return 'get';
  return query.get('watch') === 'true' ? 'watch' : 'list';
}

function answer(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
