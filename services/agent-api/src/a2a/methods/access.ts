import type { HandlerRequest } from '@runyard/service-kit';
import type { Scope } from '../../access/scope.ts';
import type { RunOrigin } from '../../runs/accepted-run.ts';
import type { A2aVersion } from '../protocol/versions.ts';
import type { MessageCreation } from '../tasks/message-sender.ts';

/** The reason why routes of A2A ask nothing themselves. */
export const METHODS_ASK = 'The methods of A2A ask about the assistants, threads and runs that a call is about.';

/** A call of a method, by either binding. */
export interface Call {
  /** The assistant of the path: its id, or a graph's. */
  assistant: string;
  request: Pick<HandlerRequest, 'raw' | 'caller' | 'headers' | 'res' | 'signal'>;
  version: A2aVersion;
  /** The tenant that the request names, in its path or its parameters. */
  tenant?: string | undefined;
  /** Set where the call may send a message, which is then sent once for its idempotency key. */
  creation?: MessageCreation | undefined;
}

/** The question to the project about a call, the same as that of the HTTP API's operation with the same effect. */
export interface CallQuestion {
  event: 'assistants:read' | 'threads:read' | 'threads:search' | 'threads:update' | 'threads:create_run';
  value: Record<string, unknown>;
}

/** The project's answer. */
interface Permitted {
  scope: Scope;
  /** The question's value as the project's handler left it. */
  value: Record<string, unknown>;
}

/** Says what callers may see, and who they are as creators of runs. */
export interface A2aAccess {
  /** Asks the project's handlers, if it has any. @throws ForbiddenError, and what the project throws */
  ask(call: Call, question: CallQuestion): Promise<Permitted>;
  creatorOf(call: Call): Omit<RunOrigin, 'scope' | 'assistantScope' | 'threadId' | 'runId' | 'task'>;
}
