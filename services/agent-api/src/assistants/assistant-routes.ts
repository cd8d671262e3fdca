import { countAssistants, createAssistant, getAssistant, searchAssistants } from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import { paginationHeaders } from '../pagination.ts';
import { UNRESTRICTED } from '../scope.ts';
import type { AssistantService } from './assistant-service.ts';

export function assistantRoutes(assistants: AssistantService): BoundOperation[] {
  return [
    bind(createAssistant, async ({ body }) => ok(await assistants.create(UNRESTRICTED, body))),
    bind(getAssistant, async ({ params }) => ok(await assistants.get(UNRESTRICTED, params.assistant_id))),
    bind(searchAssistants, async ({ body }) => {
      const page = await assistants.search(UNRESTRICTED, body);
      return ok(page.rows, paginationHeaders(page));
    }),
    bind(countAssistants, async ({ body }) => ok(await assistants.count(UNRESTRICTED, body))),
  ];
}
