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
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, noContent, ok, UnprocessableError } from '@runyard/service-kit';
import { UNRESTRICTED } from '../access/scope.ts';
import { paginationHeaders } from '../http/pagination.ts';
import { isSet } from '../http/query-flag.ts';
import type { AssistantService } from './assistant-service.ts';

export function assistantRoutes(assistants: AssistantService, keys: IdempotencyKeys): BoundOperation[] {
  return [
    bindCreation(keys, createAssistant, ok, ({ body }, keyed) => assistants.create(UNRESTRICTED, body, keyed)),
    bind(getAssistant, async ({ params }) => ok(await assistants.get(UNRESTRICTED, params.assistant_id))),
    bind(patchAssistant, async ({ params, body }) =>
      ok(await assistants.patch(UNRESTRICTED, params.assistant_id, body)),
    ),
    bind(deleteAssistant, async ({ params, query }) => {
      const deletesThreads = isSet(query.delete_threads);
      await assistants.delete(UNRESTRICTED, params.assistant_id, { deletesThreads });
      return noContent();
    }),
    bind(searchAssistants, async ({ body }) => {
      const page = await assistants.search(UNRESTRICTED, body);
      return ok(page.rows, paginationHeaders(page));
    }),
    bind(countAssistants, async ({ body }) => ok(await assistants.count(UNRESTRICTED, body))),
    bind(listAssistantVersions, async ({ params, body }) =>
      ok(await assistants.listVersions(UNRESTRICTED, params.assistant_id, body)),
    ),
    bind(setLatestAssistantVersion, async ({ params, query, body }) =>
      ok(await assistants.setLatest(UNRESTRICTED, params.assistant_id, requireVersion(query.version, body.version))),
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
