import {
  countAssistants,
  createAssistant,
  deleteAssistant,
  getAssistant,
  listAssistantVersions,
  patchAssistant,
  searchAssistants,
  setLatestAssistantVersion,
} from '@runyard/contracts';
import type { IdempotencyKeys } from '@runyard/idempotency';
import { noContent, ok, UnprocessableError } from '@runyard/service-kit';
import {
  CREATE_ASSISTANT,
  DELETE_ASSISTANT,
  DELETE_THREADS_OF_ASSISTANT,
  READ_ASSISTANT,
  READ_EXISTING_ASSISTANT,
  SEARCH_ASSISTANTS,
  UPDATE_ASSISTANT,
} from '../auth/operation-questions.ts';
import type { GuardedOperation, RouteGuard } from '../auth/route-guard.ts';
import { closedAnswer } from '../http/closed-answer.ts';
import { paginationHeaders } from '../http/pagination.ts';
import { isSet } from '../http/query-flag.ts';
import type { AssistantService } from './assistant-service.ts';

export function assistantRoutes(
  assistants: AssistantService,
  keys: IdempotencyKeys,
  guard: RouteGuard,
): GuardedOperation[] {
  return [
    guard.bindCreation(
      keys,
      createAssistant,
      [CREATE_ASSISTANT, READ_EXISTING_ASSISTANT],
      ok,
      ({ body }, [scope, existing], keyed) => assistants.create(scope, body, { existing, keyed }),
    ),
    guard.bind(getAssistant, [READ_ASSISTANT], async ({ params }, [scope]) =>
      ok(await assistants.get(scope, params.assistant_id)),
    ),
    guard.bind(patchAssistant, [UPDATE_ASSISTANT], async ({ params, body }, [scope]) =>
      ok(await assistants.patch(scope, params.assistant_id, body)),
    ),
    guard.bind(
      deleteAssistant,
      [DELETE_ASSISTANT, DELETE_THREADS_OF_ASSISTANT],
      async ({ params, query }, [scope, threadScope]) => {
        const deletesThreads = isSet(query.delete_threads);
        await assistants.delete(scope, params.assistant_id, deletesThreads ? { threadScope } : {});
        return noContent();
      },
    ),
    guard.bind(searchAssistants, [SEARCH_ASSISTANTS], async ({ body, res }, [scope]) => {
      const page = await assistants.search(scope, body, closedAnswer(res));
      return ok(page.rows, paginationHeaders(page));
    }),
    guard.bind(countAssistants, [SEARCH_ASSISTANTS], async ({ body }, [scope]) =>
      ok(await assistants.count(scope, body)),
    ),
    guard.bind(listAssistantVersions, [READ_ASSISTANT], async ({ params, body, res }, [scope]) =>
      ok(await assistants.listVersions(scope, params.assistant_id, body, closedAnswer(res))),
    ),
    guard.bind(setLatestAssistantVersion, [UPDATE_ASSISTANT], async ({ params, query, body }, [scope]) =>
      ok(await assistants.setLatest(scope, params.assistant_id, requireVersion(query.version, body.version))),
    ),
  ];
}

/** Returns the version to set, which may be in the query or in the body. */
function requireVersion(inQuery: number | undefined, inBody: number | undefined): number {
  const version = inBody ?? inQuery;
  if (version === undefined) throw new UnprocessableError('version is required');
  if (inQuery !== undefined && inQuery !== version) {
    throw new UnprocessableError('version is another one in the query than in the body');
  }
  return version;
}
