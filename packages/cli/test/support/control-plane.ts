import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  controlPlaneOperations,
  type Deployment,
  type DeploymentCreate,
  type DeploymentPatch,
  exampleDeployment,
  type LogEntry,
  type LogRequest,
  normalizeQuery,
  type Operation,
  type Revision,
  type RevisionStatus,
  UPLOAD_BYTES_MAX,
  UPLOAD_CONTENT_TYPE,
  UPLOAD_RANGE_HEADER,
  validatorOf,
} from '@runyard/contracts';
import { expect } from 'vitest';

export const API_KEY = 'lsv2_sk_test';

export interface RecordedRequest {
  method: string;
  /** The path without the query. */
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  body: any;
}

type Answer = { status: number; body?: unknown; headers?: Record<string, string> };
/**
 * A fault to simulate. `cut`: the connection ends without an answer. `cut after`: the same, after the request was
 * executed.
 */
type Fault = 'cut' | 'cut after' | Answer;

/**
 * A fake control plane that is as strict as the contracts: it refuses a path, query or body they do not know with 422
 * and records it in `violations`.
 */
export class FakeControlPlaneApi {
  readonly asked: RecordedRequest[] = [];
  readonly violations: string[] = [];
  readonly deployments = new Map<string, Deployment>();
  readonly revisions = new Map<string, (Revision & { deployment: string })[]>();
  /** Archives by object path. */
  readonly uploads = new Map<string, Buffer>();
  readonly logs: { build: LogEntry[]; deploy: LogEntry[] } = { build: [], deploy: [] };
  /** Statuses of a revision, one per request; the last one stays. */
  statuses: RevisionStatus[] = ['AWAITING_BUILD', 'BUILDING', 'DEPLOYING', 'DEPLOYED'];
  statusMessage: string | null = null;
  /** Is called when a status is returned. */
  onStatus: (status: RevisionStatus) => void = () => {};
  apiKey = API_KEY;
  readonly #faults: { method: string; path: RegExp; fault: Fault }[] = [];
  readonly #server = createServer((req, res) => void this.#serve(req, res));
  readonly #shown = new Map<string, number>();
  /** Answers by idempotency key. */
  readonly #made = new Map<string, Answer>();

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Makes the next matching request meet the fault. */
  fail(method: string, path: RegExp, fault: Fault): void {
    this.#faults.push({ method, path, fault });
  }

  requestsTo(method: string, path: RegExp): RecordedRequest[] {
    return this.asked.filter((asked) => asked.method === method && path.test(asked.path));
  }

  /** Resolves when this many requests to such a path were made. */
  async asks(count: number, path: RegExp): Promise<void> {
    const made = () => this.asked.filter((asked) => path.test(asked.path)).length;
    await expect.poll(() => made() >= count, { interval: 5 }).toBe(true);
  }

  addDeployment(name: string, change: Partial<Deployment> = {}): Deployment {
    const id = randomUUID();
    const deployment: Deployment = {
      ...exampleDeployment,
      id,
      name,
      source: 'internal_source',
      source_config: { deployment_type: 'dev', custom_url: `${this.url}/deployments/${id}` },
      source_revision_config: {},
      secrets: [],
      status: 'UNUSED',
      latest_revision_id: null,
      active_revision_id: null,
      ...change,
    };
    this.deployments.set(id, deployment);
    this.revisions.set(id, []);
    this.addRevision(deployment, 'QUEUED');
    return deployment;
  }

  addRevision(deployment: Deployment, status?: RevisionStatus): Revision {
    const now = new Date().toISOString();
    const revision = {
      id: randomUUID(),
      deployment: deployment.id,
      status: status ?? (this.statuses[0] as RevisionStatus),
      status_message: null,
      source: deployment.source,
      source_revision_config: deployment.source_revision_config,
      tracked_packages: [],
      created_at: now,
      updated_at: now,
    };
    this.revisions.get(deployment.id)?.unshift(revision);
    deployment.latest_revision_id = revision.id;
    return revision;
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const { pathname, searchParams } = new URL(req.url ?? '/', this.url);
    const isJson = req.headers['content-type'] === 'application/json';
    const body = isJson ? JSON.parse(bytes.toString('utf8')) : bytes.length > 0 ? bytes : undefined;
    const asked = { method: req.method ?? '', path: pathname, query: searchParams, headers: req.headers, body };
    this.asked.push(asked);
    const index = this.#faults.findIndex(({ method, path }) => method === asked.method && path.test(pathname));
    const [met] = index < 0 ? [] : this.#faults.splice(index, 1);
    if (met?.fault === 'cut') return void req.socket.destroy();
    const answer = met && met.fault !== 'cut after' ? met.fault : this.#answer(asked);
    if (met?.fault === 'cut after') return void req.socket.destroy();
    const text = answer.body === undefined ? '' : JSON.stringify(answer.body);
    res.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(text);
  }

  #answer(asked: RecordedRequest): Answer {
    if (asked.path.startsWith('/upload/')) return this.#takeUpload(asked);
    if (asked.headers['x-api-key'] !== this.apiKey) return { status: 401, body: { detail: 'Invalid API key' } };
    const operation = controlPlaneOperations.find(
      ({ method, path }) => method.toUpperCase() === asked.method && patternOf(path).test(asked.path),
    );
    const fault = operation ? violationOf(operation, asked) : `no operation ${asked.method} ${asked.path}`;
    if (fault) {
      this.violations.push(`${asked.method} ${asked.path}: ${fault}`);
      return { status: 422, body: { detail: [{ loc: ['body'], msg: fault, type: 'value_error' }] } };
    }
    // Workspaces and organizations are halted and capped too, and the fake has none of them.
    if (operation && /(Halt|^halt|^resume|Budget)/.test(operation.operationId)) return exampleOf(operation);
    const [, , , id = '', , revisionId = ''] = asked.path.split('/');
    const deployment = this.deployments.get(id);
    if (id && !deployment) return { status: 404, body: { detail: `Deployment ID ${id} not found.` } };
    const key = operation?.idempotencyGroup ? String(asked.headers['idempotency-key']) : '';
    const answer =
      this.#made.get(key) ?? this.#carryOut(operation?.operationId ?? '', asked, deployment as Deployment, revisionId);
    if (key) this.#made.set(key, answer);
    return answer;
  }

  #carryOut(operationId: string, { query, body }: RecordedRequest, deployment: Deployment, revisionId: string): Answer {
    switch (operationId) {
      case 'listDeployments': {
        const [name, contains, offset] = [query.get('name'), query.get('name_contains'), Number(query.get('offset'))];
        const all = [...this.deployments.values()].filter(
          (each) => (name === null || each.name === name) && each.name.includes(contains ?? ''),
        );
        const resources = all.slice(offset, offset + Number(query.get('limit') ?? 20));
        return { status: 200, body: { resources, offset: offset + resources.length } };
      }
      case 'createDeployment': {
        const create = body as DeploymentCreate;
        const made = this.addDeployment(create.name ?? '', { source: create.source, secrets: create.secrets ?? [] });
        made.source_config = { ...create.source_config, custom_url: `${this.url}/deployments/${made.id}` };
        return { status: 201, body: made };
      }
      case 'getDeployment':
        return { status: 200, body: deployment };
      case 'patchDeployment': {
        const patch = body as DeploymentPatch;
        deployment.source_revision_config = patch.source_revision_config ?? {};
        deployment.secrets = patch.secrets ?? deployment.secrets;
        this.addRevision(deployment);
        return { status: 200, body: deployment };
      }
      case 'deleteDeployment':
        this.deployments.delete(deployment.id);
        return { status: 204 };
      case 'listRevisions': {
        const resources = this.revisions.get(deployment.id)?.slice(0, Number(query.get('limit') ?? 20));
        return { status: 200, body: { resources, offset: resources?.length } };
      }
      case 'getRevision':
        return this.#revision(deployment, revisionId);
      case 'createUploadUrl': {
        const path = `sources/${randomUUID()}.tar.gz`;
        return { status: 200, body: { upload_url: `${this.url}/upload/${path}?signature=s3cret`, object_path: path } };
      }
      case 'createPushToken':
        return {
          status: 200,
          body: { token: 'push-token', registry_url: `http://registry.example.com:5000/d/${deployment.id}/` },
        };
      case 'readBuildLogs':
        return this.#logs(this.logs.build, body);
      case 'readDeployLogs':
      case 'readRevisionDeployLogs':
        return this.#logs(this.logs.deploy, body);
      default:
        return { status: 501, body: { detail: `${operationId} is not faked` } };
    }
  }

  /** Matches a level exactly; an offset is the place in the log of the previous page's last entry. */
  #logs(log: LogEntry[], request: LogRequest): Answer {
    const { start_time: start, end_time: end, offset, order, limit } = request;
    const passed = offset ? Number(offset) : null;
    const all = [...log.entries()].filter(
      ([place, { level, message, timestamp }]) =>
        (!request.level || level === request.level) &&
        message.includes(request.query ?? '') &&
        (!start || timestamp >= Date.parse(start)) &&
        (!end || timestamp <= Date.parse(end)) &&
        (passed === null || (order === 'desc' ? place < passed : place > passed)),
    );
    const page = (order === 'desc' ? all.reverse() : all).slice(0, limit ?? 50);
    const hasMore = page.length < all.length || (order !== 'desc' && page.length > 0);
    const next_offset = hasMore ? `${page.at(-1)?.[0]}` : null;
    return { status: 200, body: { logs: page.map(([, entry]) => entry), next_offset } };
  }

  #revision(deployment: Deployment, revisionId: string): Answer {
    const revision = this.revisions.get(deployment.id)?.find(({ id }) => id === revisionId);
    if (!revision) return { status: 404, body: { detail: `Revision ID ${revisionId} not found.` } };
    const shown = this.#shown.get(revisionId) ?? 0;
    revision.status = this.statuses[Math.min(shown, this.statuses.length - 1)] as RevisionStatus;
    if (revision.status.endsWith('FAILED')) revision.status_message = this.statusMessage;
    this.#shown.set(revisionId, shown + 1);
    this.onStatus(revision.status);
    const { deployment: _, ...body } = revision;
    return { status: 200, body };
  }

  #takeUpload({ method, path, query, headers, body }: RecordedRequest): Answer {
    const faults = [
      method !== 'PUT' && 'not a PUT',
      query.get('signature') !== 's3cret' && 'not signed',
      headers['x-api-key'] !== undefined && 'with a key',
      headers['content-type'] !== UPLOAD_CONTENT_TYPE && 'of another type',
      headers['content-length'] !== String(body.length) && 'without its length',
      headers[UPLOAD_RANGE_HEADER] !== `0,${UPLOAD_BYTES_MAX}` && 'without its range',
    ].filter((fault) => fault !== false);
    if (faults.length > 0) {
      this.violations.push(`upload: ${faults.join(', ')}`);
      return { status: 403, body: { detail: faults.join(', ') } };
    }
    this.uploads.set(path.slice('/upload/'.length), body);
    return { status: 200 };
  }
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);
}

/** Refuses fields that the contract does not have. */
function violationOf(operation: Operation, { query, body, headers }: RecordedRequest): string | null {
  const known = Object.keys(operation.query?.properties ?? {});
  const unknown = [...query.keys()].filter((name) => !known.includes(name));
  if (unknown.length > 0) return `unknown in the query: ${unknown.join(', ')}`;
  if (operation.query) {
    const checked = validatorOf(operation.query, { coerce: true })(
      normalizeQuery(operation.query, Object.fromEntries(query)),
    );
    if (!checked.ok) return `query ${JSON.stringify(checked.issues)}`;
  }
  if (operation.idempotencyGroup && !headers['idempotency-key']) return 'no Idempotency-Key';
  if (!operation.body) return body === undefined ? null : 'a body nobody asked for';
  if (body === undefined) return operation.bodyOptional ? null : 'no body';
  const fields = Object.keys((operation.body as { properties?: object }).properties ?? {});
  const others = Object.keys(body).filter((name) => !fields.includes(name));
  if (others.length > 0) return `unknown in the body: ${others.join(', ')}`;
  const checked = validatorOf(operation.body)(structuredClone(body));
  return checked.ok ? null : `body ${JSON.stringify(checked.issues)}`;
}

/** Makes a line that a server printed, a millisecond after the previous one. */
export function logEntry(count: number, change: Partial<LogEntry> = {}): LogEntry {
  return {
    id: `${count}`,
    timestamp: count,
    level: 'INFO',
    message: `line ${count}`,
    source: 'agent-api',
    revision_id: randomUUID(),
    ...change,
  };
}

/** Returns the answer that the contract shows for what went well. */
function exampleOf({ responses }: Operation): Answer {
  const [status, response] = Object.entries(responses)[0]!;
  return { status: Number(status), body: response.example };
}
