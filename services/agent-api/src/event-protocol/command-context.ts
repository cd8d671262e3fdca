import type { KeyedRequest } from '@runyard/idempotency';
import type { HandlerRequest } from '@runyard/service-kit';
import type { Scope } from '../access/scope.ts';
import type { RunOrigin } from '../runs/accepted-run.ts';

/** The thread of a command, and who sends it. */
export interface CommandContext {
  threadId: string;
  caller: HandlerRequest['caller'];
  /** The threads that the caller may see. */
  scope: Scope;
  /** The creator of the runs that commands start. */
  origin: RunOrigin;
  /** The idempotency key of a command that starts a run. */
  keyed?: KeyedRequest | undefined;
}

export type CommandResult = Record<string, unknown>;
export type CommandHandler = (context: CommandContext, params: Record<string, unknown>) => Promise<CommandResult>;
