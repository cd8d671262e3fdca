import { type ProtocolError, type ProtocolSuccess, sendCommand, streamEvents } from '@runyard/contracts';
import type { IdempotencyKeys } from '@runyard/idempotency';
import { type HandlerRequest, ok } from '@runyard/service-kit';
import type { Scope } from '../access/scope.ts';
import { READ_THREAD } from '../auth/operation-questions.ts';
import type { GuardedOperation, RouteGuard } from '../auth/route-guard.ts';
import type { PickHeaders } from '../http/header-choice.ts';
import type { RunOrigin } from '../runs/accepted-run.ts';
import { requestOrigin } from '../runs/request-origin.ts';
import type { OpenResponses } from '../streams/open-responses.ts';
import { ThreadAccess } from '../threads/thread-access.ts';
import type { ThreadStore } from '../threads/thread-store.ts';
import type { CommandResult } from './command-context.ts';
import {
  CREATE_RUN_BY_COMMAND,
  namesAssistant,
  READ_ASSISTANT_OF_COMMAND,
  READ_LAST_ASSISTANT,
  READ_THREAD_BY_COMMAND,
  startsRun,
} from './command-questions.ts';
import type { EventSources } from './event-follower.ts';
import { type ProtocolCommandParts, ProtocolCommands } from './protocol-commands.ts';
import { sendEvents } from './send-events.ts';

export interface ProtocolRouteParts extends ProtocolCommandParts {
  threads: Pick<ThreadStore, 'find' | 'findWithoutState' | 'isStatelessRunVisible'>;
  sources: EventSources & { open: OpenResponses };
  configurableHeaders: PickHeaders;
  keys: IdempotencyKeys;
  guard: RouteGuard;
}

export interface ProtocolRoutes {
  command: GuardedOperation;
  stream: GuardedOperation;
  /** Answers with the scope of what a subscriber of a websocket may see. */
  subscription: GuardedOperation;
}

type CommandResponse = ProtocolSuccess | ProtocolError;

const COMMAND = [
  READ_THREAD_BY_COMMAND,
  CREATE_RUN_BY_COMMAND,
  READ_ASSISTANT_OF_COMMAND,
  READ_LAST_ASSISTANT,
] as const;

/** Serves the event protocol (version 2). */
export function protocolRoutes(parts: ProtocolRouteParts): ProtocolRoutes {
  const { guard, threads, sources, keys, configurableHeaders } = parts;
  const commands = new ProtocolCommands(parts);
  return {
    command: guard.bind(sendCommand, COMMAND, async (req, [readable, runnable, named, last], original) => {
      const { params, body, caller } = req;
      const isCreation = startsRun(body);
      const scope = isCreation ? runnable : readable;
      const origin = originOf(req, { scope, assistantScope: namesAssistant(body) ? named : last });
      const context = { threadId: params.thread_id, caller, scope, origin };
      if (!isCreation) return ok(await commands.execute(context, body));
      const response = await keys.once<CommandResponse, CommandResult>(sendCommand, original, {
        create: (keyed) => commands.execute({ ...context, keyed }, body),
        repeat: (result) => ({ type: 'success', id: body.id, result, meta: { thread_id: context.threadId } }),
      });
      return ok(response);
    }),
    stream: guard.bind(streamEvents, [READ_THREAD], async ({ params, body, res }, [scope]) => {
      const { since, ...filter } = body;
      const threadId = params.thread_id;
      const access = new ThreadAccess(threads, scope, threadId);
      await sendEvents(sources, { threadId, access, filter, since }, res);
    }),
    subscription: guard.bind(streamEvents, [READ_THREAD], async (_req, [scope]) => ok({ scope })),
  };

  function originOf(
    req: Pick<HandlerRequest, 'caller' | 'res' | 'headers'>,
    scopes: { scope: Scope; assistantScope: Scope },
  ): RunOrigin {
    return {
      ...scopes,
      ...requestOrigin(req, configurableHeaders),
    };
  }
}
