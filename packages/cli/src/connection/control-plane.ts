import { randomUUID } from 'node:crypto';
import type {
  Budget,
  BudgetCreate,
  BudgetPatch,
  Deployment,
  DeploymentCreate,
  DeploymentList,
  DeploymentPatch,
  HaltRequest,
  HaltState,
  LogPage,
  LogRequest,
  PushToken,
  Revision,
  RevisionList,
  UploadUrl,
} from '@runyard/contracts';
import { CliError, ExitCode } from '../cli-error.ts';
import type { Http } from './http.ts';
import { PlatformRefusedError } from './refusals.ts';

export interface ControlPlaneOptions {
  http: Http;
  /** Base URL of the platform; may have a path. */
  url: string;
  apiKey: string;
  tenantId: string | undefined;
  /** Asks the user for the workspace, if somebody can answer. */
  askForTenant: () => Promise<string | undefined>;
}

/** The logs of a deployment's servers, or of the build of one revision. */
export type LogStream =
  | { type: 'deploy'; deploymentId: string; revisionId: string | undefined }
  | { type: 'build'; deploymentId: string; revisionId: string };

/** Names the thing that is halted or resumed. */
export type HaltSubject = { deploymentId: string } | 'workspace' | 'organization';
/** Names the thing whose budgets are meant. */
export type BudgetScope = Exclude<HaltSubject, 'organization'>;

const PAGE = 100;

/**
 * Calls the control plane's operations that the command needs. Throws refusals as errors with a message for the user.
 */
export class ControlPlane {
  readonly url: string;
  readonly #options: ControlPlaneOptions;
  #tenantId: string | undefined;

  constructor(options: ControlPlaneOptions) {
    this.#options = options;
    this.url = options.url.replace(/(?<!\/)\/+$/, '');
    this.#tenantId = options.tenantId;
  }

  /** Returns all deployments of the workspace whose name contains the text, newest first. */
  async listDeployments(filter: { nameContains?: string; name?: string } = {}): Promise<Deployment[]> {
    const query: Record<string, string> = {};
    if (filter.name !== undefined) query.name = filter.name;
    const contains = filter.nameContains ?? filter.name;
    if (contains !== undefined) query.name_contains = contains;
    const found = new Map<string, Deployment>();
    for (let offset = 0; ; offset += PAGE) {
      const page = { ...query, limit: String(PAGE), offset: String(offset) };
      const { resources } = await this.#call<DeploymentList>('GET', `/v2/deployments?${new URLSearchParams(page)}`);
      const before = found.size;
      for (const deployment of resources) found.set(deployment.id, deployment);
      // The second condition ends the loop for a platform that does not page and returns the same again and again.
      if (resources.length < PAGE || found.size === before) return [...found.values()];
    }
  }

  async findDeployment(name: string): Promise<Deployment | undefined> {
    return (await this.listDeployments({ name })).find((deployment) => deployment.name === name);
  }

  getDeployment(id: string): Promise<Deployment> {
    return this.#call('GET', `/v2/deployments/${encodeURIComponent(id)}`);
  }

  async createDeployment(body: DeploymentCreate): Promise<Deployment> {
    return withId(await this.#call<Deployment>('POST', '/v2/deployments', body), 'POST /v2/deployments');
  }

  /** Is not repeated when the request may have arrived, because each one makes a revision. @throws UnknownOutcomeError */
  patchDeployment(id: string, body: DeploymentPatch): Promise<Deployment> {
    return this.#call('PATCH', `/v2/deployments/${encodeURIComponent(id)}`, body);
  }

  async deleteDeployment(id: string): Promise<void> {
    await this.#call('DELETE', `/v2/deployments/${encodeURIComponent(id)}`);
  }

  halt(subject: HaltSubject, request: HaltRequest): Promise<HaltState> {
    return this.#call('POST', `${pathOf(subject)}/halt`, request);
  }

  resume(subject: HaltSubject): Promise<HaltState> {
    return this.#call('POST', `${pathOf(subject)}/resume`);
  }

  readHalt(subject: HaltSubject): Promise<HaltState> {
    return this.#call('GET', `${pathOf(subject)}/halt`);
  }

  async listBudgets(scope: BudgetScope): Promise<Budget[]> {
    return (await this.#call<{ budgets: Budget[] }>('GET', `${pathOf(scope)}/budgets`)).budgets;
  }

  createBudget(scope: BudgetScope, terms: BudgetCreate): Promise<Budget> {
    return this.#call('POST', `${pathOf(scope)}/budgets`, terms);
  }

  patchBudget(scope: BudgetScope, id: string, patch: BudgetPatch): Promise<Budget> {
    return this.#call('PATCH', `${pathOf(scope)}/budgets/${encodeURIComponent(id)}`, patch);
  }

  async deleteBudget(scope: BudgetScope, id: string): Promise<void> {
    await this.#call('DELETE', `${pathOf(scope)}/budgets/${encodeURIComponent(id)}`);
  }

  async listRevisions(deploymentId: string, limit: number): Promise<Revision[]> {
    const path = `/v2/deployments/${encodeURIComponent(deploymentId)}/revisions?limit=${limit}`;
    return (await this.#call<RevisionList>('GET', path)).resources;
  }

  getRevision(deploymentId: string, revisionId: string): Promise<Revision> {
    return this.#call('GET', this.revisionPath(deploymentId, revisionId));
  }

  revisionPath(deploymentId: string, revisionId: string): string {
    return `/v2/deployments/${encodeURIComponent(deploymentId)}/revisions/${encodeURIComponent(revisionId)}`;
  }

  /** These paths call the deployment a project. */
  readLogs({ type, deploymentId, revisionId }: LogStream, request: LogRequest): Promise<LogPage> {
    const revision = revisionId === undefined ? '' : `/revisions/${encodeURIComponent(revisionId)}`;
    return this.#call('POST', `/v1/projects/${encodeURIComponent(deploymentId)}${revision}/${type}_logs`, request);
  }

  async requestUploadUrl(deploymentId: string): Promise<UploadUrl> {
    const path = `/v2/deployments/${encodeURIComponent(deploymentId)}/upload-url`;
    const answer = await this.#call<UploadUrl>('POST', path, { supports_upload_headers: true });
    if (!answer?.upload_url || !answer.object_path) throw incomplete(`POST ${path}`);
    return answer;
  }

  async requestPushToken(deploymentId: string): Promise<PushToken> {
    const path = `/v2/deployments/${encodeURIComponent(deploymentId)}/push-token`;
    const answer = await this.#call<PushToken>('POST', path);
    if (!answer?.token || !answer.registry_url) throw incomplete(`POST ${path}`);
    return answer;
  }

  async #call<T>(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<T> {
    try {
      return await this.#callOnce<T>(method, path, body);
    } catch (error) {
      if (!(error instanceof PlatformRefusedError) || !error.needsWorkspace || this.#tenantId) throw error;
      const tenantId = await this.#options.askForTenant();
      if (!tenantId) throw error;
      this.#tenantId = tenantId;
      return this.#callOnce<T>(method, path, body);
    }
  }

  async #callOnce<T>(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body: unknown): Promise<T> {
    const { http, apiKey } = this.#options;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const answer = await http.send({
      method,
      url: this.url + path,
      headers: {
        'x-api-key': apiKey,
        accept: 'application/json',
        ...(this.#tenantId && { 'x-tenant-id': this.#tenantId }),
        ...(text !== undefined && { 'content-type': 'application/json' }),
        // Every try has the same key, so that a creation happens once.
        ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
      },
      ...(text !== undefined && { body: () => text }),
      isRepeatable: method === 'GET' || method === 'POST',
    });
    const what = `${method} ${path.replace(/\?.*$/s, '')}`;
    if (answer.status < 200 || answer.status > 299) throw new PlatformRefusedError(what, answer);
    return (answer.text === '' ? undefined : parse(answer.text, what)) as T;
  }
}

function parse(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CliError(
      `${what} was answered with something other than JSON: is the URL that of a Runyard platform?`,
      ExitCode.failed,
      { cause },
    );
  }
}

function pathOf(subject: HaltSubject): string {
  if (subject === 'workspace') return '/v2/workspaces/current';
  if (subject === 'organization') return '/v2/organizations/current';
  return `/v2/deployments/${encodeURIComponent(subject.deploymentId)}`;
}

function withId<T extends { id: string }>(answer: T | undefined, what: string): T {
  if (typeof answer?.id !== 'string' || answer.id === '') throw incomplete(what);
  return answer;
}

function incomplete(what: string): CliError {
  return new CliError(`${what} succeeded, but its answer lacks what it must hold.`);
}
