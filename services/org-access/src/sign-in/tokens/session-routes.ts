import { sessionOperations } from '@runyard/contracts';
import { type BoundOperation, bind, type HandlerRequest, noContent, ok } from '@runyard/service-kit';
import { clearedSessionCookie, sessionCookie, sessionTokenIn } from '../sessions/session-cookie.ts';
import type { SessionService } from './session-service.ts';

/** Serves people their own sessions. */
export function sessionRoutes(sessions: SessionService): BoundOperation[] {
  const operations = sessionOperations;
  return [
    bind(operations.listSessions, async ({ caller }) => ok(await sessions.list(caller))),
    bind(operations.endSession, async (request) => {
      const { caller, params } = request;
      const id = params.session_id.toLowerCase();
      await sessions.end(caller, id);
      return noContent(id === caller.sessionId ? forgetting(request) : {});
    }),
    bind(operations.endSessions, async (request) => {
      const { include_current: includesCurrent = false } = request.query;
      const ended = await sessions.endAll(request.caller, includesCurrent);
      return ok({ ended }, includesCurrent ? forgetting(request) : {});
    }),
    bind(operations.signOut, async (request) => {
      await sessions.end(request.caller, request.caller.sessionId!);
      return noContent(forgetting(request));
    }),
    bind(operations.refreshSession, async (request) => {
      const { token, session, maxAgeSeconds } = await sessions.refresh(request.caller, sessionTokenIn(request));
      return ok(session, { 'set-cookie': sessionCookie(token, request, maxAgeSeconds) });
    }),
    bind(operations.issueAccessToken, async (request) =>
      ok(await sessions.issueAccessToken(request.caller, sessionTokenIn(request)), { 'cache-control': 'no-store' }),
    ),
    bind(operations.chooseOrganization, async ({ caller, body }) =>
      ok(await sessions.chooseOrganization(caller, body.organization_id.toLowerCase())),
    ),
    bind(operations.whoAmI, async ({ caller }) => ok(await sessions.describePerson(caller))),
  ];
}

function forgetting(request: Pick<HandlerRequest, 'headers'>): Record<string, string> {
  return { 'set-cookie': clearedSessionCookie(request) };
}
