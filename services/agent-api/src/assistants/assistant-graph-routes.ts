import type { IncomingHttpHeaders } from 'node:http';
import {
  getAssistantGraph,
  getAssistantSchemas,
  getAssistantSubgraphs,
  getAssistantSubgraphsIn,
} from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import { UNRESTRICTED } from '../access/scope.ts';
import type { PickHeaders } from '../http/header-choice.ts';
import { isSet } from '../http/query-flag.ts';
import type { AssistantGraphService, GraphRequester } from './assistant-graph-service.ts';

/**
 * @param configurableHeaders request headers that reach `configurable` of graphs that are made anew for each request
 */
export function assistantGraphRoutes(
  graphs: AssistantGraphService,
  configurableHeaders: PickHeaders,
): BoundOperation[] {
  return [
    bind(getAssistantGraph, async ({ params, query, headers }) =>
      ok(await graphs.draw(requesterOf(headers), params.assistant_id, { xray: query.xray })),
    ),
    bind(getAssistantSchemas, async ({ params, headers }) =>
      ok(await graphs.schemas(requesterOf(headers), params.assistant_id)),
    ),
    bind(getAssistantSubgraphs, async ({ params, query, headers }) =>
      ok(await graphs.subgraphs(requesterOf(headers), params.assistant_id, { recurse: isSet(query.recurse) })),
    ),
    bind(getAssistantSubgraphsIn, async ({ params: { assistant_id, namespace }, query, headers }) =>
      ok(await graphs.subgraphs(requesterOf(headers), assistant_id, { namespace, recurse: isSet(query.recurse) })),
    ),
  ];

  function requesterOf(headers: IncomingHttpHeaders): GraphRequester {
    return { scope: UNRESTRICTED, headers: configurableHeaders(headers) };
  }
}
