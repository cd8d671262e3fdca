import { type AgUiJoinQuery, joinAgUi, runAgUi } from '@runyard/contracts';
import { type HandlerRequest, UnprocessableError } from '@runyard/service-kit';
import type { GuardedOperation, RouteGuard } from '../auth/route-guard.ts';
import { isFields } from '../http/fields.ts';
import { acceptsHandoff, withQuery } from '../streams/continuation.ts';
import { letGo } from '../streams/let-go.ts';
import type { AgUiCall, AgUiRuns, FollowedAgUiRun } from './ag-ui-runs.ts';
import { type AgUiPeer, isCurrentVersion } from './events/ag-ui-event.ts';
import { type EventPlace, parsePlace } from './events/event-ids.ts';
import { answerWithout, type SendRunSources, sendRun } from './send-run.ts';

type AgUiRequest = HandlerRequest<{ assistant_id: string }, unknown, unknown>;

/** The reason why the routes ask nothing themselves. */
const RUNS_ASK = 'Runs of AG-UI ask about the assistant, and about the thread that its client names in its own way.';

/** Serves AG-UI: one path per assistant, where runs are started and joined. */
export function agUiRoutes(runs: AgUiRuns, sources: SendRunSources, guard: RouteGuard): GuardedOperation[] {
  return [
    guard.exempt(runAgUi, RUNS_ASK, async (req) => {
      const { body, headers } = req;
      const { threadId, runId, protocolVersion, parentRunId, forwardedProps } = body;
      const after = placeOf(headers);
      const peer: AgUiPeer = {
        threadId,
        runId,
        parentRunId: parentRunId ?? undefined,
        isCurrent: isCurrentVersion(protocolVersion),
        wantsRaw: isFields(forwardedProps) && forwardedProps.emitRawEvents === true,
      };
      const outcome = await runs.start(callOf(req, body), body);
      if (outcome.kind === 'run') send(req, outcome.run, { peer, after, version: protocolVersion });
      else answerWithout(outcome, peer, req.res);
    }),
    guard.exempt(joinAgUi, RUNS_ASK, async (req) => {
      const { query, headers } = req;
      const after = placeOf(headers);
      const run = await runs.join(callOf(req, query));
      send(req, run, { peer: peerOf(query), after, version: query.protocolVersion });
    }),
  ];

  function send(
    req: AgUiRequest,
    run: FollowedAgUiRun,
    { peer, after, version }: { peer: AgUiPeer; after: EventPlace | undefined; version: string | null | undefined },
  ): void {
    const { threadId, runId, wantsRaw } = peer;
    const known = run.isNew ? undefined : after;
    const continuationPath = acceptsHandoff(req.headers)
      ? withQuery(`/agui/${encodeURIComponent(req.params.assistant_id)}`, {
          threadId,
          runId,
          protocolVersion: version ?? undefined,
          emitRawEvents: wantsRaw ? 'true' : undefined,
        })
      : undefined;
    if (!run.isEnded) sources.watch.wake();
    // From here on nothing holds the request, whose messages may be large.
    const { res, log } = req;
    letGo(sendRun(sources, { ...run, isStateless: false, peer, after: known, continuationPath }, { res, log }), req);
  }
}

function callOf({ params, caller, headers, res }: AgUiRequest, names: { threadId: string; runId: string }): AgUiCall {
  const { threadId, runId } = names;
  const goesOn = placeOf(headers) !== undefined;
  return { assistant: params.assistant_id, request: { caller, headers, res }, threadId, runId, goesOn };
}

function peerOf({ threadId, runId, protocolVersion, emitRawEvents }: AgUiJoinQuery): AgUiPeer {
  return { threadId, runId, isCurrent: isCurrentVersion(protocolVersion), wantsRaw: emitRawEvents === 'true' };
}

/** Returns the last event that a client has; undefined for one that begins. @throws UnprocessableError */
function placeOf({ 'last-event-id': id }: AgUiRequest['headers']): EventPlace | undefined {
  // Browsers send an empty one when there was no event.
  if (id === undefined || id === '') return undefined;
  const place = parsePlace(String(id));
  if (!place) throw new UnprocessableError('Last-Event-ID: must be the id of an event of this stream');
  return place;
}
