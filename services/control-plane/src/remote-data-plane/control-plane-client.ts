import {
  CallerAnswer,
  type CallerQuestion,
  conforms,
  DataPlaneLease,
  type DataPlaneLeaseRequest,
  type DeploymentReport,
  type HaltReport,
  JsonWebKeySet,
  ListenerDesiredState,
  type LogReport,
  LogReportAnswer,
  type MetricsReport,
  PullToken,
  type PullTokenRequest,
  type RevisionReport,
  RevisionReportAnswer,
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
  listenerId: string;
  credentials: Credentials;
}

/** A key of the listener, or a platform key with the workspace it is used in. */
export type Credentials = { listenerKey: string } | { apiKey: string; workspaceId: string };

/** Milliseconds for an answer beyond the requested wait, because a connection may be broken without an error. */
const ANSWER_MS = 10_000;
/** The limit for checks of callers, who wait for the answer and rather get an error. */
const CHECK_MS = 2_500;

/** Sends each request once, without retries. */
export class ControlPlaneClient {
  readonly #baseUrl: string;
  readonly #headers: Record<string, string>;

  constructor({ url, listenerId, credentials }: ControlPlaneAccess) {
    this.#baseUrl = `${url.replace(/(?<!\/)\/+$/, '')}/v2/listeners/${listenerId}`;
    const who: Record<string, string> =
      'listenerKey' in credentials
        ? { authorization: `Bearer ${credentials.listenerKey}` }
        : { 'x-api-key': credentials.apiKey, 'x-tenant-id': credentials.workspaceId };
    this.#headers = { ...who, 'content-type': 'application/json' };
  }

  async takeLease(request: DataPlaneLeaseRequest, signal: AbortSignal): Promise<DataPlaneLease> {
    return parseBody(DataPlaneLease, await this.#call('POST', '/lease', { body: request, signal }));
  }

  /** Returns undefined when `since` is still the current version. */
  async desiredState(
    { epoch, since, waitSeconds }: { epoch: number; since: string | undefined; waitSeconds: number },
    signal: AbortSignal,
  ): Promise<ListenerDesiredState | undefined> {
    const query = new URLSearchParams({ epoch: String(epoch), wait_seconds: String(waitSeconds) });
    if (since !== undefined) query.set('since', since);
    const answer = await this.#call('GET', `/desired-state?${query}`, {
      signal,
      answerMs: waitSeconds * 1000 + ANSWER_MS,
    });
    return answer.status === 204 ? undefined : parseBody(ListenerDesiredState, answer);
  }

  async pullToken(deploymentId: string, request: PullTokenRequest, signal: AbortSignal): Promise<PullToken> {
    return parseBody(
      PullToken,
      await this.#call('POST', `/deployments/${deploymentId}/pull-token`, { body: request, signal }),
    );
  }

  async reportRevision(report: RevisionReport, signal: AbortSignal): Promise<RevisionReportAnswer> {
    return parseBody(RevisionReportAnswer, await this.#call('POST', '/status', { body: report, signal }));
  }

  async reportDeployment(id: string, report: DeploymentReport, signal: AbortSignal): Promise<void> {
    await this.#call('POST', `/deployments/${id}/status`, { body: report, signal });
  }

  async reportHalt(id: string, report: HaltReport, signal: AbortSignal): Promise<void> {
    await this.#call('POST', `/deployments/${id}/halt-report`, { body: report, signal });
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
