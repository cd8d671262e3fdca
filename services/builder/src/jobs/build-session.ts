import { setTimeout as pause } from 'node:timers/promises';
import type { BuildEnd, BuildOrder } from '@runyard/contracts';
import { withDeadline } from '@runyard/deadline';
import { BuildError } from '@runyard/deployments';
import { RegistryUnavailableError } from '@runyard/image-registry';
import { secretMask, withLastLines } from '@runyard/revision-logs';
import type { Logger } from '@runyard/service-kit';
import { passwordsOfNetrc } from '../commands/netrc.ts';
import { BuildLog } from './build-log.ts';
import type { BuildOutcome } from './build-metrics.ts';
import { type ControlPlaneClient, ControlPlaneUnavailableError, OrderRefusedError } from './control-plane-client.ts';

const REPORT_EVERY_MS = 1_000;
/** Milliseconds without control-plane after which a build ends: somebody else will have to begin it again. */
const SILENCE_MS = 5 * 60_000;
/** Milliseconds for the last lines of the log, without which a build can end, too. */
const LAST_LINES_MS = 15_000;
/** Milliseconds for the notice that this process stops. */
const FAREWELL_MS = 5_000;
const RETRY_MS = 1_000;
/** Milliseconds after its abortion in which work has to end. */
const ABORT_MS = 30_000;

/** control-plane wants no more of the build: it was deleted or replaced, or another builder has it. */
class WithdrawnError extends Error {
  override readonly name = 'WithdrawnError';
}

/** Does what an order says. */
export type Work = (
  order: BuildOrder,
  context: { log: BuildLog; signal: AbortSignal; onCommit(commit: string): void },
) => Promise<BuildEnd>;

export interface BuildSessionOptions {
  client: Pick<ControlPlaneClient, 'report' | 'end'>;
  work: Work;
  logger: Logger;
}

/**
 * One order, from its beginning to the answer to its end. Every wait here has a deadline, and the end of the session ends
 * all of them.
 */
export class BuildSession {
  readonly #order: BuildOrder;
  readonly #options: BuildSessionOptions;
  readonly #logger: Logger;
  readonly #log: BuildLog;
  readonly #mask: (text: string) => string;
  /** Ends the work. */
  readonly #working = new AbortController();
  #commit: string | undefined;

  constructor(order: BuildOrder, options: BuildSessionOptions) {
    this.#order = order;
    this.#options = options;
    const { deployment_id: deploymentId, revision_id: revisionId } = order;
    this.#logger = options.logger.child({ deploymentId, revisionId });
    const secrets = [...Object.values(order.variables), ...passwordsOfNetrc(order.variables)];
    this.#log = new BuildLog(secrets);
    this.#mask = secretMask(secrets);
  }

  /** Ends the work, because this process stops. */
  stop(): void {
    this.#working.abort(new Error('stopped'));
  }

  /** Resolves when the build has ended, and control-plane knows or cannot be told. */
  async run(): Promise<BuildOutcome> {
    this.#logger.info('build begun');
    const reporting = new AbortController();
    const reports = this.#reportUntil(reporting.signal);
    const end = await this.#work();
    reporting.abort();
    await reports;
    if (!end) {
      this.#logger.info('build withdrawn');
      return 'withdrawn';
    }
    const isStop = end.kind === 'stopped';
    const limitMs = isStop ? FAREWELL_MS : SILENCE_MS;
    await withDeadline(undefined, isStop ? FAREWELL_MS : LAST_LINES_MS, (signal) => this.#flush(signal)).catch(
      (error: unknown) => this.#logger.warn('last lines of a build not reported', { error }),
    );
    const answer = withDeadline(undefined, limitMs, (signal) =>
      retry(signal, () => this.#options.client.end(this.#order.end_url, end, signal)),
    );
    await answer.then(
      ({ is_accepted: isAccepted }) => this.#logger.info('build ended', { end: end.kind, isAccepted }),
      (error: unknown) => this.#logger.warn('end of a build not reported', { end: end.kind, error }),
    );
    return end.kind === 'archive' || end.kind === 'layer' ? 'succeeded' : end.kind;
  }

  /** Returns undefined when nobody wants to know how it ended. */
  async #work(): Promise<BuildEnd | undefined> {
    const { work } = this.#options;
    const { timeout_seconds: seconds } = this.#order;
    const { signal } = this.#working;
    const context = { log: this.#log, onCommit: (commit: string) => this.#onCommit(commit) };
    try {
      return await withDeadline(signal, seconds * 1000, (limited) =>
        endInTime(work(this.#order, { ...context, signal: limited }), limited),
      );
    } catch (error) {
      if (signal.aborted) return signal.reason instanceof WithdrawnError ? undefined : { kind: 'stopped' };
      if (error instanceof DOMException && error.name === 'TimeoutError')
        return this.#failed(`The build was not done within ${seconds} s`);
      if (error instanceof BuildError) return this.#failed(error.message);
      if (error instanceof OrderRefusedError) return this.#failed(error.message);
      if (error instanceof ControlPlaneUnavailableError || error instanceof RegistryUnavailableError) {
        this.#log.write(`${error.message}: trying again`, { source: 'build' });
        return { kind: 'unavailable', message: this.#mask(error.message) };
      }
      this.#logger.error('build crashed', { error });
      return this.#failed((error as Error).message);
    }
  }

  #failed(message: string): BuildEnd {
    return { kind: 'failed', message: withLastLines(this.#mask(message), this.#log).slice(0, 60_000) };
  }

  #onCommit(commit: string): void {
    this.#commit = commit;
  }

  /** Reports each second, and ends the work when control-plane does not want it any more, or is silent for long. */
  async #reportUntil(signal: AbortSignal): Promise<void> {
    let heardAt = performance.now();
    while (!signal.aborted) {
      try {
        await this.#report(signal);
        heardAt = performance.now();
      } catch (error) {
        if (signal.aborted) return;
        const isLost = performance.now() - heardAt > SILENCE_MS;
        if (isLost || error instanceof WithdrawnError) return this.#working.abort(new WithdrawnError());
        this.#logger.debug('build not reported, will retry', { error });
      }
      await pause(REPORT_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** @throws WithdrawnError; ControlPlaneUnavailableError */
  async #report(signal: AbortSignal): Promise<void> {
    const commit = this.#commit;
    const log = this.#log.next();
    const report = { ...(commit !== undefined && { commit }), ...(log && { log }) };
    try {
      const answer = await this.#options.client.report(this.#order.report_url, report, signal);
      if (!answer.goes_on) throw new WithdrawnError();
      if (log) this.#log.taken(log, answer.last_id);
    } catch (error) {
      if (!(error instanceof OrderRefusedError)) throw error;
      // The URL has expired.
      if (error.status === 403) throw new WithdrawnError();
      if (log) this.#log.refused(log);
    }
    if (this.#commit === commit) this.#commit = undefined;
  }

  /** Reports what is left of the log, and the commit. @throws WithdrawnError; the signal's reason */
  async #flush(signal: AbortSignal): Promise<void> {
    while (!this.#log.isEmpty || this.#commit !== undefined) {
      const left = this.#log.next()?.entries.length;
      await retry(signal, () => this.#report(signal));
      // A line that is not taken is sent again, as the first of another file.
      if (left !== undefined && this.#log.next()?.entries.length === left)
        await pause(RETRY_MS / 10, undefined, { signal });
    }
  }
}

/** Waits for work to end, and not much longer than until it is aborted. @throws the signal's reason */
async function endInTime<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const wait = () => {
      timer = setTimeout(() => reject(signal.reason), ABORT_MS);
    };
    if (signal.aborted) wait();
    else signal.addEventListener('abort', wait, { once: true });
  });
  late.catch(() => undefined);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Repeats a request while control-plane is unavailable. @throws the signal's reason; OrderRefusedError */
export async function retry<Answer>(signal: AbortSignal, ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await ask();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof OrderRefusedError || error instanceof WithdrawnError) throw error;
      await pause(RETRY_MS, undefined, { signal });
    }
  }
}
