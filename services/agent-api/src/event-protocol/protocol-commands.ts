import type { ProtocolCommand, ProtocolError, ProtocolSuccess } from '@runyard/contracts';
import { BEFORE_ALL, type RunStreams, sequenceOf } from '@runyard/run-stream';
import { isRestricted } from '../access/scope.ts';
import type { StateService } from '../threads/state-service.ts';
import type { ThreadStore } from '../threads/thread-store.ts';
import { AgentTreeCommand, type AgentTreeParts } from './agent-tree.ts';
import type { CommandContext, CommandHandler } from './command-context.ts';
import { CommandError, toErrorResponse } from './protocol-response.ts';
import { type RunCommandParts, RunCommands } from './run-commands.ts';
import { StateCommands } from './state-commands.ts';

export interface ProtocolCommandParts extends RunCommandParts, AgentTreeParts {
  runs: RunCommandParts['runs'] & AgentTreeParts['runs'];
  states: Pick<StateService, 'get' | 'history'>;
  streams: Pick<RunStreams, 'read' | 'newestId'>;
  threads: RunCommandParts['threads'] & Pick<ThreadStore, 'findWithoutState'>;
}

/** Subscriptions belong to a websocket: over HTTP each stream of events is one. */
const OF_WEBSOCKETS: ReadonlySet<string> = new Set(['subscription.subscribe', 'subscription.reconnect']);

/** Executes the commands of the event protocol. */
export class ProtocolCommands {
  readonly #handlers: ReadonlyMap<string, CommandHandler>;
  readonly #streams: Pick<RunStreams, 'newestId'>;
  readonly #threads: Pick<ThreadStore, 'findWithoutState'>;

  constructor(parts: ProtocolCommandParts) {
    const runs = new RunCommands(parts);
    const states = new StateCommands(parts.states);
    const agents = new AgentTreeCommand(parts);
    this.#streams = parts.streams;
    this.#threads = parts.threads;
    this.#handlers = new Map([
      ['run.start', runs.start],
      ['input.respond', runs.respond],
      ['state.fork', runs.fork],
      ['state.get', states.get],
      ['state.listCheckpoints', states.listCheckpoints],
      ['agent.getTree', agents.getTree],
      ['subscription.unsubscribe', unsubscribeNothing],
    ]);
  }

  /** Executes a command and returns its response. Errors that are not about the command are thrown. */
  async execute(context: CommandContext, command: ProtocolCommand): Promise<ProtocolSuccess | ProtocolError> {
    const { id, method, params = {} } = command;
    try {
      const result = await this.#handlerOf(method)(context, params);
      return { type: 'success', id, result, meta: await this.#metaOf(context) };
    } catch (error) {
      return { ...toErrorResponse(id, error), meta: await this.#metaOf(context) };
    }
  }

  #handlerOf(method: string): CommandHandler {
    const handler = this.#handlers.get(method);
    if (handler) return handler;
    if (method === 'input.inject') {
      throw new CommandError('not_supported', 'A running graph takes no input: start a run with it instead');
    }
    if (OF_WEBSOCKETS.has(method)) {
      throw new CommandError('not_supported', `${method} is a command of websockets: open a stream of events instead`);
    }
    throw new CommandError('unknown_command', `Unknown protocol command: ${method}`);
  }

  async #metaOf({ threadId, scope }: CommandContext): Promise<ProtocolSuccess['meta']> {
    // The newest event has its time as its number, which is for those alone who may see the thread.
    const isVisible = !isRestricted(scope) || (await this.#threads.findWithoutState(scope, threadId)) !== undefined;
    const newest = isVisible ? await this.#streams.newestId(threadId).catch(() => undefined) : BEFORE_ALL;
    return { thread_id: threadId, ...(newest !== undefined && { applied_through_seq: sequenceOf(newest) }) };
  }
}

const unsubscribeNothing: CommandHandler = async (_context, { subscription_id }) => {
  throw new CommandError('no_such_subscription', `Unknown subscription: ${subscription_id}`);
};
