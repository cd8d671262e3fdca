import type { RunStreamQuery } from '@runyard/contracts';
import type { RunRecord } from '@runyard/run-engine';
import { parseEventId } from '@runyard/run-stream';
import { type HandlerRequest, NotFoundError } from '@runyard/service-kit';
import { isSet } from '../query-flag.ts';
import { UNRESTRICTED } from '../scope.ts';
import { parseStreamModes } from '../streams/stream-filter.ts';
import { type StreamedRun, type StreamSources, streamFailure, streamRun } from '../streams/stream-run.ts';
import { answerWithResult } from './answer-with-result.ts';
import type { RunRequest } from './run-arguments.ts';
import { type RunPlace, streamHeaders } from './run-locations.ts';
import { failure, isOver, type RunResultSources, resultOf } from './run-result.ts';
import type { AcceptedRun, RunService } from './run-service.ts';

type Client = Pick<HandlerRequest, 'res' | 'log' | 'headers'>;
type Params = { run_id: string; thread_id?: string };

/** From now on: nothing of what has been is sent. */
const FROM_NOW_ON = '$';
const MISSING = { error: 'HTTPException', message: '404: Run not found' };

/** Brings a run's output to clients: as events or as its result, from the start or joining later. */
export class RunAnswers {
  readonly #runs: RunService;
  readonly #sources: StreamSources & RunResultSources;

  constructor(runs: RunService, sources: StreamSources & RunResultSources) {
    this.#runs = runs;
    this.#sources = sources;
  }

  async stream(run: AcceptedRun, request: RunRequest, { res, log }: Client): Promise<void> {
    const streamed: StreamedRun = { ...run, isResumable: request.stream_resumable ?? false };
    const { wasAbandoned } = await streamRun(this.#sources, streamed, res, streamHeaders(run));
    if (wasAbandoned && request.on_disconnect === 'cancel') await this.#cancelAbandoned(run, log);
  }

  async wait(run: AcceptedRun, request: RunRequest, { res, log }: Client): Promise<void> {
    const { wasAbandoned } = await answerWithResult(this.#sources, run, res, log);
    if (wasAbandoned && request.on_disconnect === 'cancel') await this.#cancelAbandoned(run, log);
  }

  async join(params: Params, cancelOnDisconnect: boolean, { res, log }: Client): Promise<void> {
    const run = await this.#find(params);
    const place = { runId: params.run_id, threadId: run?.threadId ?? String(params.thread_id), isStateless: false };
    const known = run ? (isOver(run) ? resultOf(run) : undefined) : failure(MISSING.error, MISSING.message);
    if (known === undefined) this.#sources.watch.checkSoon();
    const { wasAbandoned } = await answerWithResult(
      this.#sources,
      { ...place, afterId: FROM_NOW_ON, ...(known !== undefined && { known }) },
      res,
      log,
    );
    if (wasAbandoned && cancelOnDisconnect) await this.#cancelAbandoned(place, log);
  }

  /** The result of a run that is being cancelled, as soon as it is over. */
  async result({ threadId, runId }: { threadId: string; runId: string }, client: Client): Promise<void> {
    await this.join({ thread_id: threadId, run_id: runId }, false, client);
  }

  async joinStream(params: Params, query: RunStreamQuery, { res, log, headers }: Client): Promise<void> {
    const modes = parseStreamModes(query.stream_mode);
    const run = await this.#find(params);
    const place: RunPlace = {
      runId: params.run_id,
      threadId: run?.threadId ?? String(params.thread_id),
      isStateless: params.thread_id === undefined,
    };
    if (!run) return streamFailure(res, streamHeaders(place), MISSING);
    const isResumable = run.kwargs.resumable === true;
    const lastEventId = headers['last-event-id'];
    const afterId = lastEventId === undefined ? undefined : parseEventId(String(lastEventId));
    if (isOver(run) && (afterId === undefined || !isResumable)) {
      res.writeHead(200, streamHeaders(place)).end();
      return;
    }
    if (!isOver(run)) this.#sources.watch.checkSoon();
    const { wasAbandoned } = await streamRun(
      this.#sources,
      { ...place, afterId: afterId ?? FROM_NOW_ON, isOver: isOver(run), isResumable, modes },
      res,
      streamHeaders(place),
    );
    if (wasAbandoned && isSet(query.cancel_on_disconnect)) await this.#cancelAbandoned(place, log);
  }

  async #find({ thread_id, run_id }: Params): Promise<RunRecord | undefined> {
    try {
      return await (thread_id === undefined
        ? this.#runs.findById(UNRESTRICTED, run_id)
        : this.#runs.find(UNRESTRICTED, thread_id, run_id));
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  async #cancelAbandoned({ threadId, runId }: RunPlace, log: Client['log']): Promise<void> {
    try {
      await this.#runs.cancel(UNRESTRICTED, { threadId, runIds: [runId] }, 'interrupt', 'the client disconnected');
    } catch (error) {
      // A run that ended at the same moment has nothing left to cancel.
      if (!(error instanceof NotFoundError)) log.error('an abandoned run could not be cancelled', { error, runId });
    }
  }
}
