import type { ServerResponse } from 'node:http';
import { type Continuation, LiveResponse, type Logger } from '@runyard/service-kit';
import type { OpenResponses } from '../streams/open-responses.ts';
import { type RunLocation, waitHeaders } from './run-locations.ts';
import {
  type AwaitedRun,
  awaitResult,
  errorResult,
  type RunResult,
  type RunResultSources,
  withFeedback,
} from './run-result.ts';

/** Most runs are short: their answer goes out whole instead of headers first. */
const HEADERS_WITHIN_MS = 100;
/**
 * The same for a result that is there already and may be refused for lack of room: on a busy machine finding out takes
 * longer, and a request whose headers are out could only wait.
 */
const REFUSABLE_HEADERS_WITHIN_MS = 4_000;

/**
 * Answers with the result of a run: headers soon, a line feed every five seconds, then the JSON. `known` is a result
 * that is there already. An answer that `mayBeRefused` becomes an error, like that of any other request, when the
 * result cannot be read and the headers are not out. `feedback` gives URLs to include. `continuation` is for
 * whoever takes the answer over.
 */
export async function answerWithResult(
  sources: RunResultSources & { open: OpenResponses },
  run: RunLocation &
    AwaitedRun & {
      known?: RunResult;
      mayBeRefused?: boolean;
      feedback?: (() => Record<string, string>) | undefined;
      continuation?: Continuation | undefined;
    },
  res: ServerResponse,
  log: Logger,
): Promise<{ wasAbandoned: boolean }> {
  const headersWithinMs = run.mayBeRefused ? REFUSABLE_HEADERS_WITHIN_MS : HEADERS_WITHIN_MS;
  const response = new LiveResponse(res, waitHeaders(run), { heartbeat: '\n', headersWithinMs });
  const { continuation } = run;
  const isCut = sources.open.add(response, continuation ? { continuation: () => continuation } : {});
  try {
    const mayRefuse = () => run.mayBeRefused === true && !res.headersSent;
    const result = run.known ?? (await awaitResult(sources, run, response.closed, mayRefuse));
    if (result !== undefined) await response.endWith(run.feedback ? withFeedback(result, run.feedback()) : [result]);
  } catch (error) {
    if (run.mayBeRefused && response.withdraw()) throw error;
    log.error('reading the result of a run failed', { error, runId: run.runId });
    await response.endWith([
      errorResult('InternalServerError', 'The result could not be read. Join the run to try again.'),
    ]);
  }
  return { wasAbandoned: response.wasAbandoned && !isCut() };
}
