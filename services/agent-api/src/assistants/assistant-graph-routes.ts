import type { IncomingHttpHeaders } from 'node:http';
import {
  getAssistantGraph,
  getAssistantSchemas,
  getAssistantSubgraphs,
  getAssistantSubgraphsIn,
} from '@runyard/contracts';
import { ok } from '@runyard/service-kit';
import type { Scope } from '../access/scope.ts';
import { READ_ASSISTANT } from '../auth/operation-questions.ts';
import type { GuardedOperation, RouteGuard } from '../auth/route-guard.ts';
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
    guard.bind(getAssistantGraph, [READ_ASSISTANT], async ({ params, query, headers }, [scope]) =>
      ok(await graphs.draw(requesterOf(scope, headers), params.assistant_id, { xray: query.xray })),
    ),
    guard.bind(getAssistantSchemas, [READ_ASSISTANT], async ({ params, headers }, [scope]) =>
      ok(await graphs.schemas(requesterOf(scope, headers), params.assistant_id)),
    ),
    guard.bind(getAssistantSubgraphs, [READ_ASSISTANT], async ({ params, query, headers }, [scope]) => {
      const options = { recurse: isSet(query.recurse) };
      return ok(await graphs.subgraphs(requesterOf(scope, headers), params.assistant_id, options));
    }),
    guard.bind(getAssistantSubgraphsIn, [READ_ASSISTANT], async ({ params, query, headers }, [scope]) => {
      const options = { namespace: params.namespace, recurse: isSet(query.recurse) };
      return ok(await graphs.subgraphs(requesterOf(scope, headers), params.assistant_id, options));
    }),
  ];

  function requesterOf(scope: Scope, headers: IncomingHttpHeaders): GraphRequester {
    return { scope, headers: configurableHeaders(headers) };
  }
}
