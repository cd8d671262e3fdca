import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps, type RequestOptions } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { HttpMethod, KubeConfig, KubernetesObject } from '@kubernetes/client-node';
import { withDeadline } from '@runyard/deadline';

/** The library is large, so it is only loaded where there is a cluster, and then passed around. */
export type KubernetesClient = typeof import('@kubernetes/client-node');

/** API paths of the kinds of objects that this driver uses. */
const RESOURCES = {
  Deployment: ['apis/apps/v1', 'deployments'],
  HorizontalPodAutoscaler: ['apis/autoscaling/v2', 'horizontalpodautoscalers'],
  Pod: ['api/v1', 'pods'],
  PodDisruptionBudget: ['apis/policy/v1', 'poddisruptionbudgets'],
  Secret: ['api/v1', 'secrets'],
  Service: ['api/v1', 'services'],
} as const;
export type Kind = keyof typeof RESOURCES;

export interface ApiCall {
  method: keyof typeof HttpMethod;
  path: string;
  query?: Record<string, string>;
  body?: unknown;
  contentType?: string;
}

/** Identifies this writer of fields to the API server (server-side apply). */
const FIELD_MANAGER = 'runyard';
const APPLY = 'application/apply-patch+yaml';
const MERGE = 'application/merge-patch+json';
/** Limits the wait for an unresponsive server. */
const ANSWER_TIMEOUT_MS = 30_000;
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 5_000;

/** The API server refused a request. The message is the server's. */
export class ClusterRefusedError extends Error {
  override readonly name = 'ClusterRefusedError';
  readonly status: number;
  /** Milliseconds of the server's `Retry-After`, if it sent one. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, message: string, retryAfterMs?: number) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }

  /** True when a retry may succeed. */
  get isPassing(): boolean {
    return this.status === 409 || this.status === 429 || this.status >= 500;
  }
}

/**
 * Calls a cluster's API server for one namespace. Objects are written by server-side apply, so that writes are
 * idempotent and keep the fields that others set.
 */
export class ClusterApi {
  readonly client: KubernetesClient;
  readonly kubeConfig: KubeConfig;
  readonly namespace: string;

  constructor(client: KubernetesClient, kubeConfig: KubeConfig, namespace: string) {
    this.client = client;
    this.kubeConfig = kubeConfig;
    this.namespace = namespace;
  }

  get #server(): string {
    return (this.kubeConfig.getCurrentCluster()?.server ?? '').replace(/(?<!\/)\/+$/, '');
  }

  pathOf(kind: Kind, name?: string): string {
    const [group, plural] = RESOURCES[kind];
    return `/${group}/namespaces/${this.namespace}/${plural}${name === undefined ? '' : `/${name}`}`;
  }

  /** Creates or updates the object as described. Retries while the API server is unavailable. */
  apply<Made extends KubernetesObject>(object: Made, signal: AbortSignal): Promise<Made> {
    return this.callWithRetries(signal, {
      method: 'PATCH',
      path: this.pathOf(object.kind as Kind, object.metadata!.name!),
      query: { fieldManager: FIELD_MANAGER, force: 'true' },
      contentType: APPLY,
      body: object,
    });
  }

  merge(kind: Kind, name: string, changes: object, signal: AbortSignal): Promise<unknown> {
    const query = { fieldManager: FIELD_MANAGER };
    return this.callWithRetries(signal, {
      method: 'PATCH',
      path: this.pathOf(kind, name),
      query,
      contentType: MERGE,
      body: changes,
    });
  }

  /** Returns null when no object has this name. */
  async find<Found extends KubernetesObject>(kind: Kind, name: string, signal: AbortSignal): Promise<Found | null> {
    try {
      return await this.callWithRetries<Found>(signal, { method: 'GET', path: this.pathOf(kind, name) });
    } catch (error) {
      if (error instanceof ClusterRefusedError && error.status === 404) return null;
      throw error;
    }
  }

  async list<Item extends KubernetesObject>(kind: Kind, labelSelector: string, signal: AbortSignal): Promise<Item[]> {
    const call: ApiCall = { method: 'GET', path: this.pathOf(kind), query: { labelSelector } };
    return (await this.callWithRetries<{ items: Item[] }>(signal, call)).items;
  }

  /** Removes all objects of the kind with these labels and their dependents; pods get `graceSeconds`. */
  async remove(kind: Kind, labelSelector: string, signal: AbortSignal, graceSeconds?: number): Promise<void> {
    const query = {
      labelSelector,
      propagationPolicy: 'Background',
      ...(graceSeconds !== undefined && { gracePeriodSeconds: String(graceSeconds) }),
    };
    await this.callWithRetries(signal, { method: 'DELETE', path: this.pathOf(kind), query });
  }

  /** Retries until the answer is final or the signal aborts. @throws ClusterRefusedError */
  async callWithRetries<Answer>(signal: AbortSignal, call: ApiCall): Promise<Answer> {
    for (let pauseMs = FIRST_RETRY_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_RETRY_MS)) {
      try {
        return await this.callOnce<Answer>(call, signal);
      } catch (error) {
        signal.throwIfAborted();
        const refusal = error instanceof ClusterRefusedError ? error : undefined;
        if (refusal && !refusal.isPassing) throw refusal;
        await pause(Math.max(pauseMs, refusal?.retryAfterMs ?? 0), undefined, { signal });
      }
    }
  }

  /** Sends one request. @throws ClusterRefusedError for every answer but a success; another error without an answer */
  callOnce<Answer>({ method, path, query = {}, body, contentType }: ApiCall, signal: AbortSignal): Promise<Answer> {
    const { RequestContext, HttpMethod, createConfiguration } = this.client;
    const request = new RequestContext(this.#server + path, HttpMethod[method]);
    request.setHeaderParam('accept', 'application/json');
    for (const [name, value] of Object.entries(query)) request.setQueryParam(name, value);
    if (body !== undefined) {
      request.setHeaderParam('content-type', contentType ?? 'application/json');
      request.setBody(JSON.stringify(body));
    }
    return withDeadline(signal, ANSWER_TIMEOUT_MS, async (limited) => {
      request.setSignal(limited);
      await this.kubeConfig.applySecurityAuthentication(request);
      const answer = await createConfiguration().httpApi.send(request).toPromise();
      const content = await answer.body.text();
      if (answer.httpStatusCode < 300) return JSON.parse(content) as Answer;
      const retryAfterSeconds = Number(answer.headers['retry-after']);
      const retryAfterMs = retryAfterSeconds > 0 ? retryAfterSeconds * 1000 : undefined;
      throw new ClusterRefusedError(answer.httpStatusCode, messageOf(content), retryAfterMs);
    });
  }

  /** Opens a streamed answer. @throws ClusterRefusedError */
  async open(path: string, query: Record<string, string>, signal: AbortSignal): Promise<IncomingMessage> {
    const url = new URL(`${this.#server}${path}?${new URLSearchParams(query)}`);
    const options: RequestOptions = { signal };
    await this.kubeConfig.applyToHTTPSOptions(options);
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const get = url.protocol === 'http:' ? getHttp : getHttps;
      get(url, options, resolve).once('error', reject);
    });
    if (answer.statusCode === 200) return answer;
    throw new ClusterRefusedError(answer.statusCode ?? 0, messageOf(await text(answer)));
  }
}

/** Extracts the message: API servers refuse with a `Status`, proxies in front of them with anything. */
function messageOf(answer: string): string {
  try {
    const { message } = JSON.parse(answer) as { message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // The answer is no JSON.
  }
  return answer.slice(0, 300);
}
