import {
  getAssistantGraph,
  getAssistantSchemas,
  getAssistantSubgraphs,
  getAssistantSubgraphsIn,
  getAssistantSummary,
} from '@runyard/contracts';
import { type HandlerRequest, ok } from '@runyard/service-kit';
import type { Scope } from '../access/scope.ts';
import { READ_ASSISTANT } from '../auth/operation-questions.ts';
import type { GuardedOperation, RouteGuard } from '../auth/route-guard.ts';
import { userOf } from '../auth/user-caller.ts';
import type { PickHeaders } from '../http/header-choice.ts';
import { isSet } from '../http/query-flag.ts';
import type { AssistantGraphService, GraphRequester } from './assistant-graph-service.ts';

/**
 * @param configurableHeaders request headers that reach `configurable` of graphs that are made anew for each request
 */
export function assistantGraphRoutes(
  graphs: AssistantGraphService,
  configurableHeaders: PickHeaders,
  guard: RouteGuard,
): GuardedOperation[] {
  return [
    guard.bind(getAssistantGraph, [READ_ASSISTANT], async (req, [scope]) =>
      ok(await graphs.draw(requesterOf(req, scope), req.params.assistant_id, { xray: req.query.xray })),
    ),
    guard.bind(getAssistantSchemas, [READ_ASSISTANT], async (req, [scope]) =>
      ok(await graphs.schemas(requesterOf(req, scope), req.params.assistant_id)),
    ),
    guard.bind(getAssistantSummary, [READ_ASSISTANT], async (req, [scope]) =>
      ok(await graphs.summary(requesterOf(req, scope), req.params.assistant_id)),
    ),
    guard.bind(getAssistantSubgraphs, [READ_ASSISTANT], async (req, [scope]) => {
      const options = { recurse: isSet(req.query.recurse) };
      return ok(await graphs.subgraphs(requesterOf(req, scope), req.params.assistant_id, options));
    }),
    guard.bind(getAssistantSubgraphsIn, [READ_ASSISTANT], async (req, [scope]) => {
      const { assistant_id, namespace } = req.params;
      const options = { namespace, recurse: isSet(req.query.recurse) };
      return ok(await graphs.subgraphs(requesterOf(req, scope), assistant_id, options));
    }),
  ];

  function requesterOf({ headers, caller }: Pick<HandlerRequest, 'headers' | 'caller'>, scope: Scope): GraphRequester {
    return { scope, headers: configurableHeaders(headers), user: userOf(caller) };
  }
}
