import {
  getAssistantGraph,
  getAssistantSchemas,
  getAssistantSubgraphs,
  getAssistantSubgraphsIn,
} from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import { isSet } from '../query-flag.ts';
import { UNRESTRICTED } from '../scope.ts';
import type { AssistantGraphService } from './assistant-graph-service.ts';

export function assistantGraphRoutes(graphs: AssistantGraphService): BoundOperation[] {
  return [
    bind(getAssistantGraph, async ({ params, query }) =>
      ok(await graphs.draw(UNRESTRICTED, params.assistant_id, { xray: query.xray })),
    ),
    bind(getAssistantSchemas, async ({ params }) => ok(await graphs.schemas(UNRESTRICTED, params.assistant_id))),
    bind(getAssistantSubgraphs, async ({ params, query }) =>
      ok(await graphs.subgraphs(UNRESTRICTED, params.assistant_id, { recurse: isSet(query.recurse) })),
    ),
    bind(getAssistantSubgraphsIn, async ({ params: { assistant_id, namespace }, query }) =>
      ok(await graphs.subgraphs(UNRESTRICTED, assistant_id, { namespace, recurse: isSet(query.recurse) })),
    ),
  ];
}
