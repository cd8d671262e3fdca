import type { HandlerRequest } from '@runyard/service-kit';
import { type Scope, UNRESTRICTED } from '../access/scope.ts';
import type { Authorizer } from '../auth/authorizer.ts';
import type { PickHeaders } from '../http/header-choice.ts';
import type { RunOrigin } from '../runs/accepted-run.ts';
import { requestOrigin } from '../runs/request-origin.ts';

/** A question to the project, as the operations of the HTTP API with the same effect ask it. */
interface Question {
  event:
    | 'assistants:read'
    | 'assistants:search'
    | 'threads:read'
    | 'threads:search'
    | 'threads:update'
    | 'threads:create_run';
  value: Record<string, unknown>;
}

/** The answer to a question. */
export interface Permitted {
  scope: Scope;
  /** The question's value as the project's handler left it. */
  value: Record<string, unknown>;
}

/** Says what callers of a protocol may see, and who they are as creators of runs. */
export interface ProtocolAccess {
  /** Asks the project's handlers, if it has any. @throws ForbiddenError, and what the project throws */
  ask(request: Pick<HandlerRequest, 'caller'>, question: Question): Promise<Permitted>;
  creatorOf(
    request: Pick<HandlerRequest, 'caller' | 'headers' | 'res'>,
  ): Omit<RunOrigin, 'scope' | 'assistantScope' | 'threadId' | 'runId' | 'task' | 'threadTtl'>;
}

export function openProtocolAccess(parts: {
  /** Left out where the project does not decide about callers. */
  authorizer: Pick<Authorizer, 'authorize'> | undefined;
  configurableHeaders: PickHeaders;
}): ProtocolAccess {
  const { authorizer, configurableHeaders } = parts;
  return {
    ask: async ({ caller }, { event, value }) =>
      authorizer ? authorizer.authorize(caller, event, value) : { scope: UNRESTRICTED, value },
    creatorOf: (request) => requestOrigin(request, configurableHeaders),
  };
}
