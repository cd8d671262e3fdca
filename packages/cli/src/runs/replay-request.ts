import { isObject, type Json } from '../agent-server/json.ts';
import { CliError } from '../cli-error.ts';
import type { StartingPoint } from './starting-point.ts';

/** Names the run that another one replays, in the metadata of the other. */
const REPLAY_OF = 'runyard_replay_of';

/** Fields of a run's arguments that its replay has, too. Neither its webhook nor its feedback is asked for again. */
const SAME = ['interrupt_before', 'interrupt_after', 'stream_mode', 'durability'];
/** Keys of `configurable` that servers write themselves. */
const OF_SERVERS = /^(__.*|langgraph_.*|svc_.*|(run|thread|graph|assistant|user|cron)_id|checkpoint_(id|ns|map))$/;
/** Keys of metadata that servers write themselves. */
const METADATA_OF_SERVERS =
  /^(__.*|langgraph_.*|svc_.*|created_by|graph_id|assistant_id|run_attempt|(run|thread|cron)_id)$/;

/**
 * Returns the request that makes a run with the arguments of another one. A busy thread refuses it: it would begin from
 * elsewhere once the thread is idle.
 *
 * @throws CliError when the arguments of the run cannot be read
 */
export function replayRequest({ run, checkpointId, takesInput }: StartingPoint): Json {
  const { kwargs } = run;
  if (!isObject(kwargs) || !('input' in kwargs || 'command' in kwargs))
    throw new CliError(`The arguments of the run ${run.run_id} cannot be read.`);
  const { input, command, subgraphs, config, context } = kwargs;
  const same = Object.entries(kwargs).filter(([key, value]) => SAME.includes(key) && value !== null);
  return {
    ...Object.fromEntries(same),
    ...configurationOf(config, context),
    assistant_id: run.assistant_id,
    input: takesInput ? (input ?? null) : null,
    ...(takesInput && isObject(command) && { command }),
    ...(checkpointId !== undefined && { checkpoint_id: checkpointId }),
    metadata: { ...without(METADATA_OF_SERVERS, run.metadata), [REPLAY_OF]: run.run_id },
    ...(subgraphs === true && { stream_subgraphs: true }),
    stream_resumable: true,
    multitask_strategy: 'reject',
  };
}

/** Servers take one of `context` and `configurable`, and make the other of it. */
function configurationOf(config: unknown, context: unknown): Json {
  const { configurable: given, metadata: _, ...rest } = isObject(config) ? config : {};
  const configurable = without(OF_SERVERS, given);
  const isContext = isObject(context) && Object.keys(context).length > 0;
  const kept = isContext || Object.keys(configurable).length === 0 ? rest : { ...rest, configurable };
  return { ...(Object.keys(kept).length > 0 && { config: kept }), ...(isContext && { context }) };
}

function without(keys: RegExp, value: unknown): Json {
  return isObject(value) ? Object.fromEntries(Object.entries(value).filter(([key]) => !keys.test(key))) : {};
}
