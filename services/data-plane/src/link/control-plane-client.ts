import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import {
  type BudgetsReport,
  CallerAnswer,
  type CallerQuestion,
  conforms,
  DatabasePassword,
  type DatabasePasswordRequest,
  DataPlaneLease,
  type DataPlaneLeaseRequest,
  type DeploymentReport,
  type HaltReport,
  JsonWebKeySet,
  ListenerDesiredState,
  type LogReport,
  LogReportAnswer,
  type MetricsReport,
  type ProcessCountsReport,
  PullToken,
  type PullTokenRequest,
  type RevisionReport,
  RevisionReportAnswer,
  type RouteReport,
  type WorkspaceSecretsQuestion,
  WorkspaceSecretValues,
} from '@runyard/contracts';
import { withDeadline } from '@runyard/deadline';
import type { Static, TSchema } from 'typebox';

/** The control plane answered with an error. */
export class ControlPlaneRefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly status: number;

  constructor(status: number, detail: string) {
    super(`The control plane answered ${status}: ${detail}`);
    this.status = status;
  }

  /** True when another data plane has the listener's lease. */
  get isStale(): boolean {
    return this.status === 409;
  }
}

export interface ControlPlaneAccess {
  /** May have a path. */
  url: string;
  /** The listener, or the data plane itself when it is one of the platform's own. */
  speakerId: string;
  credentials: Credentials;
}

/**
 * A key of the listener, that of the platform's own data planes, or a key of the platform's API with the workspace it is
 * used in.
 */
export type Credentials = { key: string } | { apiKey: string; workspaceId: string };

/** Milliseconds for an answer, because a connection may be broken without an error. */
const ANSWER_MS = 10_000;
/** The limit for checks of callers, who wait for the answer and rather get an error. */
const CHECK_MS = 2_500;

/** Sends each request once, without retries. */
export class ControlPlaneClient {
  readonly #baseUrl: string;
  readonly #headers: Record<string, string>;

  constructor({ url, speakerId, credentials }: ControlPlaneAccess) {
    this.#baseUrl = `${url.replace(/(?<!\/)\/+$/, '')}/v2/listeners/${speakerId}`;
    const who: Record<string, string> =
      'key' in credentials
        ? { authorization: `Bearer ${credentials.key}` }
        : { 'x-api-key': credentials.apiKey, 'x-tenant-id': credentials.workspaceId };
    this.#headers = { ...who, 'content-type': 'application/json' };
  }

  async takeLease(request: DataPlaneLeaseRequest, signal: AbortSignal): Promise<DataPlaneLease> {
    return parseBody(DataPlaneLease, await this.#call('POST', '/lease', { body: request, signal }));
  }

  async releaseLease(epoch: number, signal: AbortSignal): Promise<void> {
    await this.#call('DELETE', `/lease?epoch=${epoch}`, { signal });
  }

  /** Returns undefined when `since` is still the current version. */
  async desiredState(
    {
      epoch,
      since,
      waitSeconds,
      answerMs,
    }: { epoch: number; since: string | undefined; waitSeconds: number; answerMs: number },
    signal: AbortSignal,
  ): Promise<ListenerDesiredState | undefined> {
    const query = new URLSearchParams({ epoch: String(epoch), wait_seconds: String(waitSeconds) });
    if (since !== undefined) query.set('since', since);
    const answer = await this.#call('GET', `/desired-state?${query}`, {
      signal,
      answerMs: waitSeconds * 1000 + answerMs,
    });
    return answer.status === 204 ? undefined : parseBody(ListenerDesiredState, answer);
  }

  async pullToken(deploymentId: string, request: PullTokenRequest, signal: AbortSignal): Promise<PullToken> {
    return parseBody(
      PullToken,
      await this.#call('POST', `/deployments/${deploymentId}/pull-token`, { body: request, signal }),
    );
  }

  /** Returns the archive of a revision's build, whose time has no limit but the signal's. */
  async fetchBuild(revisionId: string, epoch: number, signal: AbortSignal): Promise<Readable> {
    const answer = await fetch(`${this.#baseUrl}/revisions/${revisionId}/build?epoch=${epoch}`, {
      headers: this.#headers,
      signal,
    });
    if (!answer.ok) throw new ControlPlaneRefusedError(answer.status, detailOf(await answer.text()));
    return Readable.fromWeb(answer.body as ReadableStream);
  }

  async reportRevision(report: RevisionReport, signal: AbortSignal): Promise<RevisionReportAnswer> {
    return parseBody(RevisionReportAnswer, await this.#call('POST', '/status', { body: report, signal }));
  }

  async reportDeployment(id: string, report: DeploymentReport, signal: AbortSignal): Promise<void> {
    await this.#call('POST', `/deployments/${id}/status`, { body: report, signal });
  }

  async reportRoute(id: string, report: RouteReport, signal: AbortSignal): Promise<void> {
    await this.#call('POST', `/deployments/${id}/route`, { body: report, signal });
  }

  async reportProcessCounts(id: string, report: ProcessCountsReport, signal: AbortSignal): Promise<void> {
    await this.#call('POST', `/deployments/${id}/process-counts`, { body: report, signal });
  }

  async storePassword(id: string, request: DatabasePasswordRequest, signal: AbortSignal): Promise<DatabasePassword> {
    return parseBody(
      DatabasePassword,
      await this.#call('POST', `/deployments/${id}/database-password`, { body: request, signal }),
    );
  }

  async workspaceSecrets(question: WorkspaceSecretsQuestion, signal: AbortSignal): Promise<WorkspaceSecretValues> {
    return parseBody(WorkspaceSecretValues, await this.#call('POST', '/workspace-secrets', { body: question, signal }));
  }

  async reportHalt(id: string, report: HaltReport, signal: AbortSignal): Promise<void> {
    await this.#call('POST', `/deployments/${id}/halt-report`, { body: report, signal });
  }

  async reportBudgets(id: string, report: BudgetsReport, signal: AbortSignal): Promise<void> {
    await this.#call('POST', `/deployments/${id}/budgets-report`, { body: report, signal });
  }

  async reportMetrics(report: MetricsReport, signal: AbortSignal): Promise<void> {
    await this.#call('POST', '/metrics', { body: report, signal });
  }

  async reportLogs(report: LogReport, signal: AbortSignal): Promise<LogReportAnswer> {
    return parseBody(LogReportAnswer, await this.#call('POST', '/logs', { body: report, signal }));
  }

  async checkCaller(question: CallerQuestion, signal: AbortSignal): Promise<CallerAnswer> {
    return parseBody(
      CallerAnswer,
      await this.#call('POST', '/callers', { body: question, signal, answerMs: CHECK_MS }),
    );
  }

  async keySet(signal: AbortSignal): Promise<Static<typeof JsonWebKeySet>> {
    return parseBody(JsonWebKeySet, await this.#call('GET', '/key-set', { signal, answerMs: CHECK_MS }));
  }

  /** @throws RefusedError; TypeError when the control plane cannot be reached */
  async #call(
    method: string,
    path: string,
    { body, signal, answerMs = ANSWER_MS }: { body?: object; signal: AbortSignal; answerMs?: number },
  ): Promise<{ status: number; body: unknown }> {
    const { answer, text } = await withDeadline(signal, answerMs, async (limited) => {
      const answer = await fetch(this.#baseUrl + path, {
        method,
        headers: this.#headers,
        signal: limited,
        ...(body && { body: JSON.stringify(body) }),
      });
      return { answer, text: await answer.text() };
    });
    if (!answer.ok) throw new ControlPlaneRefusedError(answer.status, detailOf(text));
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
  }
}

/** @throws Error for an answer that is no control plane's, such as a proxy's */
function parseBody<S extends TSchema>(schema: S, { body }: { body: unknown }): Static<S> {
  if (!conforms(schema, body)) throw new Error('The control plane answered what nobody can read');
  return body;
}

function detailOf(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown };
    return typeof detail === 'string' ? detail : text.slice(0, 200);
  } catch {
    return text.slice(0, 200);
  }
}
