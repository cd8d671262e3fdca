import type { ThreadState } from '@runyard/contracts';
import { NotFoundError } from '@runyard/service-kit';
import type { StateService } from '../threads/state-service.ts';
import type { CommandHandler } from './command-context.ts';
import { readListCheckpoints, readStateGet } from './command-params.ts';
import { CommandError } from './protocol-response.ts';

const DEFAULT_LIMIT = 10;

/** Commands that read the state of the thread. */
export class StateCommands {
  readonly #states: Pick<StateService, 'get' | 'history'>;

  constructor(states: Pick<StateService, 'get' | 'history'>) {
    this.#states = states;
  }

  readonly get: CommandHandler = async ({ scope, threadId }, params) => {
    const { namespace = [], keys } = readStateGet(params);
    const state = await missingAsNoRun(this.#states.get(scope, threadId, positionOf(namespace)));
    if (namespace.length > 0 && state.created_at === null) {
      throw new CommandError('no_such_namespace', `The thread has no state of ${namespace.join(' > ')}`);
    }
    const { checkpoint_id, checkpoint } = state;
    return {
      values: selectKeys(state.values, keys),
      ...(checkpoint_id !== null && { checkpoint: { id: checkpoint_id, ns: checkpoint?.checkpoint_ns ?? '' } }),
    };
  };

  readonly listCheckpoints: CommandHandler = async ({ scope, threadId }, params) => {
    const { namespace = [], limit = DEFAULT_LIMIT, before } = readListCheckpoints(params);
    const query = { ...positionOf(namespace), limit, beforeCheckpointId: before, keys: [] };
    const states = await missingAsNoRun(this.#states.history(scope, threadId, query));
    return { checkpoints: states.map(toSummary) };
  };
}

function positionOf(namespace: string[]): { checkpointNs?: string } {
  return namespace.length > 0 ? { checkpointNs: namespace.join('|') } : {};
}

async function missingAsNoRun<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof NotFoundError) throw new CommandError('no_such_run', 'The thread has no run');
    throw error;
  }
}

function selectKeys(values: unknown, keys: string[] | undefined): unknown {
  if (keys === undefined || typeof values !== 'object' || values === null) return values;
  return Object.fromEntries(Object.entries(values).filter(([key]) => keys.includes(key)));
}

function toSummary({ checkpoint_id, created_at, metadata }: ThreadState): Record<string, unknown> {
  const { step, writes } = metadata ?? {};
  const [node] = typeof writes === 'object' && writes !== null ? Object.keys(writes) : [];
  return {
    id: checkpoint_id,
    timestamp: created_at,
    step,
    ...(node !== undefined && { node_name: node }),
    ...(metadata && { metadata }),
  };
}
