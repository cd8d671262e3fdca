import type { ServerResponse } from 'node:http';
import type { RunJoinQuery, RunStreamQuery, RunWaitQuery } from '@runyard/contracts';
import type { RunEngine, RunRecord } from '@runyard/run-engine';
import { BEFORE_ALL, parseEventId, type RunStreams } from '@runyard/run-stream';
import { type Continuation, type HandlerRequest, hasPermission, NotFoundError } from '@runyard/service-kit';
import type { Scope } from '../access/scope.ts';
import type { FeedbackTokens } from '../feedback/feedback-tokens.ts';
import { type FeedbackUrls, feedbackKeys, feedbackUrls } from '../feedback/feedback-urls.ts';
import { isSet } from '../http/query-flag.ts';
import { acceptsHandoff, isContinuing, withQuery } from '../streams/continuation.ts';
import { letGo } from '../streams/let-go.ts';
import {
  FROM_NOW_ON,
  type RunEventsOptions,
  type StreamSources,
  sendFailureEvent,
  sendRunEvents,
} from '../streams/send-run-events.ts';
import { parseStreamModes } from '../streams/stream-filter.ts';
import { answerWithResult } from './answer-with-result.ts';
import { type FollowedRun, readCurrentState } from './followed-run.ts';
import type { RunRequest } from './run-arguments.ts';
import { joinPath, type RunLocation, streamContinuationPath, streamHeaders } from './run-locations.ts';
import { EMPTY_RESULT, isEnded, type RunResultSources } from './run-result.ts';
import type { RunService } from './run-service.ts';

/** The client that is answered, with the scopes of what it may see, and may cancel by leaving. */
type Client = Pick<HandlerRequest, 'log' | 'headers' | 'caller'> & {
  res: ServerResponse;
  scope: Scope;
  cancelScope: Scope;
};
type Sources = StreamSources &
  RunResultSources & { streams: Pick<RunStreams, 'newestId'>; engine: Pick<RunEngine, 'getRun' | 'halts'> };
type Params = { run_id: string; thread_id?: string };

const RUN_NOT_FOUND = 'Run not found';
/** The same inside of a stream that another process began. */
const MISSING_RUN = { error: 'HTTPException', message: `404: ${RUN_NOT_FOUND}` };

/** Sends a run's output to clients: as events or as its result, from the start or joining later. */
export class RunAnswers {
  readonly #runs: RunService;
  readonly #sources: Sources;
  readonly #feedbackTokens: Pick<FeedbackTokens, 'issue'>;

  constructor(runs: RunService, sources: Sources, feedbackTokens: Pick<FeedbackTokens, 'issue'>) {
    this.#runs = runs;
    this.#sources = sources;
    this.#feedbackTokens = feedbackTokens;
  }

  /**
   * Begins to stream a run, and resolves then: from there on nothing holds the request. @throws NotFoundError when the
   * run of a repeated request was deleted
   */
  async stream(run: FollowedRun, request: RunRequest, client: Client): Promise<void> {
    const { headers } = client;
    const feedback = this.#feedback(run.runId, feedbackKeys(request.feedback_keys, undefined), headers);
    const continuationPath = continuationPathFor(
      client,
      streamContinuationPath(run),
      continuationQuery(request, client),
    );
    const { isEnded, isDeleted } = await readCurrentState(this.#sources, run);
    if (isDeleted) throw new NotFoundError(RUN_NOT_FOUND);
    const streamed = { ...run, isEnded, isResumable: request.stream_resumable ?? false, feedback, continuationPath };
    letGo(this.#sendEvents(streamed, client, request.on_disconnect), client);
  }

  /** Begins to answer with the result of a run, and resolves then: from there on nothing holds the request. */
  async wait(run: FollowedRun, request: RunRequest, query: RunWaitQuery, client: Client): Promise<void> {
    const feedback = this.#feedback(
      run.runId,
      feedbackKeys(request.feedback_keys, query.feedback_keys),
      client.headers,
    );
    const continuedQuery = { ...continuationQuery(request, client), feedback_keys: query.feedback_keys };
    const continuation = resultContinuation(client, joinPath(run), continuedQuery, { isOwn: true });
    const { isEnded, isDeleted } = await readCurrentState(this.#sources, run);
    const own = { ...run, isEnded, isKept: isEnded && !isDeleted, isOwn: true, feedback, continuation };
    letGo(this.#sendResult(own, client, request.on_disconnect), client);
  }

  async #sendEvents(
    run: RunLocation & RunEventsOptions,
    client: Client,
    onDisconnect: RunRequest['on_disconnect'],
  ): Promise<void> {
    const { wasAbandoned } = await sendRunEvents(this.#sources, run, client.res, streamHeaders(run));
    if (wasAbandoned && onDisconnect === 'cancel') await this.#cancelAbandoned(run, client);
  }

  async #sendResult(
    run: Parameters<typeof answerWithResult>[1],
    client: Client,
    onDisconnect: RunRequest['on_disconnect'],
  ): Promise<void> {
    const { wasAbandoned } = await answerWithResult(this.#sources, run, client.res, client.log);
    if (wasAbandoned && onDisconnect === 'cancel') await this.#cancelAbandoned(run, client);
  }

  /** @throws NotFoundError, HaltedError */
  join(params: Params, query: RunJoinQuery, client: Client): Promise<void> {
    return this.#join(params, query, client, { mayBeRefused: true });
  }

  /**
   * Answers with the result of a run that was just cancelled, as soon as it has ended. One that is not found by then
   * was rolled back.
   */
  answerCancelled({ threadId, runId }: { threadId: string; runId: string }, client: Client): Promise<void> {
    // The run cannot be cancelled a second time.
    return this.#join({ thread_id: threadId, run_id: runId }, {}, client, { mayBeRefused: false });
  }

  /**
   * `mayBeRefused` says that the client may repeat the request. What another process has begun to answer is not refused
   * any more.
   */
  async #join(
    params: Params,
    query: RunJoinQuery,
    client: Client,
    { mayBeRefused }: { mayBeRefused: boolean },
  ): Promise<void> {
    const { res, log, headers } = client;
    const run = await this.#find(params, client);
    await this.#refuseWhileHalted(run, client);
    const location = { runId: params.run_id, threadId: run?.threadId ?? String(params.thread_id), isStateless: false };
    // This is a continuation for the client that created the run, which gets its last values even when it was rolled
    // back.
    const isOwn = headers['last-event-id'] !== undefined && (await this.#mayContinue(run, params, client));
    const isKept = run !== undefined && isEnded(run);
    // A deleted run that its own client follows may still be in its stream.
    const isMissing = run === undefined && !isOwn;
    if (isMissing && mayBeRefused && !isContinuing(headers)) throw new NotFoundError(RUN_NOT_FOUND);
    if (!isKept && !isMissing) this.#sources.watch.wake();
    const { wasAbandoned } = await answerWithResult(
      this.#sources,
      {
        ...location,
        ...(isOwn ? { isOwn, isEnded: run === undefined } : { afterId: FROM_NOW_ON }),
        continuation: resultContinuation(client, joinPath(location), query, { isOwn }),
        isKept,
        mayBeRefused: isKept && mayBeRefused,
        ...(isMissing && { known: EMPTY_RESULT }),
        feedback: this.#feedback(location.runId, feedbackKeys(run?.kwargs.feedback_keys, query.feedback_keys), headers),
      },
      res,
      log,
    );
    if (wasAbandoned && isSet(query.cancel_on_disconnect)) await this.#cancelAbandoned(location, client);
  }

  /** @throws NotFoundError, HaltedError */
  async joinStream(params: Params, query: RunStreamQuery, client: Client): Promise<void> {
    const { res, headers } = client;
    const modes = parseStreamModes(query.stream_mode);
    const run = await this.#find(params, client);
    await this.#refuseWhileHalted(run, client);
    const location: RunLocation = {
      runId: params.run_id,
      threadId: run?.threadId ?? String(params.thread_id),
      isStateless: params.thread_id === undefined,
    };
    // Another process sent its beginning: the rest is due, whatever kind of stream it is, and whatever became of the
    // run.
    const isContinued = await this.#mayContinue(run, params, client);
    if (!run && !isContinued) {
      if (!isContinuing(headers)) throw new NotFoundError(RUN_NOT_FOUND);
      return sendFailureEvent(res, streamHeaders(location), MISSING_RUN);
    }
    const isResumable = run && run.kwargs.resumable === true;
    const lastEventId = headers['last-event-id'];
    const afterId = lastEventId === undefined ? undefined : parseEventId(String(lastEventId));
    const hasEnded = run === undefined || isEnded(run);
    if (!isContinued && hasEnded && (afterId === undefined || !isResumable)) {
      res.writeHead(200, streamHeaders(location)).end();
      return;
    }
    if (!hasEnded) this.#sources.watch.wake();
    const { wasAbandoned } = await sendRunEvents(
      this.#sources,
      {
        ...location,
        afterId: afterId ?? (isContinued ? undefined : await this.#currentPosition(location.threadId, headers)),
        continuationPath: continuationPathFor(client, streamContinuationPath(location), query),
        isEnded: hasEnded,
        ...(isResumable !== undefined && { isResumable }),
        modes,
        feedback: this.#feedback(location.runId, feedbackKeys(run?.kwargs.feedback_keys, undefined), headers),
      },
      res,
      streamHeaders(location),
    );
    if (wasAbandoned && isSet(query.cancel_on_disconnect)) await this.#cancelAbandoned(location, client);
  }

  /**
   * Refuses to wait for a run that will not start before somebody resumes the deployment. Answers that another process
   * began go on.
   *
   * @throws HaltedError
   */
  async #refuseWhileHalted(run: RunRecord | undefined, { headers }: Client): Promise<void> {
    if (run?.status === 'pending' && !isContinuing(headers)) await this.#sources.engine.halts.refuseWhileHalted();
  }

  /** Returns the position of a stream from now on: an id when the answer may be continued elsewhere. */
  async #currentPosition(threadId: string, headers: Client['headers']): Promise<string> {
    if (!acceptsHandoff(headers)) return FROM_NOW_ON;
    return this.#sources.streams.newestId(threadId).catch(() => FROM_NOW_ON);
  }

  #feedback(runId: string, keys: string[], headers: Client['headers']): (() => FeedbackUrls) | undefined {
    if (keys.length === 0) return undefined;
    return () => feedbackUrls(this.#feedbackTokens, { runId, keys, headers });
  }

  /**
   * Returns whether the request continues an answer that another process began. Only the thread of a deleted run can
   * still say who may read it.
   */
  async #mayContinue(run: RunRecord | undefined, { thread_id }: Params, { headers, scope }: Client): Promise<boolean> {
    if (!isContinuing(headers)) return false;
    return run !== undefined || (thread_id !== undefined && (await this.#runs.mayContinueReading(scope, thread_id)));
  }

  async #find({ thread_id, run_id }: Params, { scope }: Client): Promise<RunRecord | undefined> {
    try {
      return await (thread_id === undefined
        ? this.#runs.findById(scope, run_id)
        : this.#runs.find(scope, thread_id, run_id));
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  async #cancelAbandoned({ threadId, runId }: RunLocation, { log, cancelScope }: Client): Promise<void> {
    try {
      await this.#runs.cancel(cancelScope, { threadId, runIds: [runId] }, 'interrupt', 'the client disconnected');
    } catch (error) {
      // A run that ended at the same moment has nothing left to cancel.
      if (!(error instanceof NotFoundError)) log.error('cancelling an abandoned run failed', { error, runId });
    }
  }
}

/**
 * Returns the continuation of a result. Its starting position marks it as the answer to the client that created the
 * run.
 */
function resultContinuation(
  client: Client,
  path: string,
  query: Parameters<typeof withQuery>[1],
  { isOwn }: { isOwn: boolean },
): Continuation | undefined {
  const continuationPath = continuationPathFor(client, path, query);
  return continuationPath === undefined ? undefined : { path: continuationPath, ...(isOwn && { afterId: BEFORE_ALL }) };
}

/** Returns the path of the continuation; undefined when nobody takes the answer over. */
function continuationPathFor(
  { headers }: Client,
  path: string,
  query: Parameters<typeof withQuery>[1],
): string | undefined {
  return acceptsHandoff(headers) ? withQuery(path, query) : undefined;
}

/** Returns the query by which a continued answer keeps the `on_disconnect` of the request that created the run. */
function continuationQuery({ on_disconnect }: RunRequest, { caller }: Client): { cancel_on_disconnect?: string } {
  return on_disconnect === 'cancel' && hasPermission(caller, 'runs:update') ? { cancel_on_disconnect: '1' } : {};
}
