import type { GraphInputKeys } from '@runyard/host-protocol/graph-process';
import type { CompiledGraph } from '../langgraph/graph-types.ts';

/** LangGraph's name for a channel that holds the whole state, which then has no keys. */
const ROOT = '__root__';

/** Returns the keys that the input of a compiled graph may have; null when its input is one value of any form. */
export function inputKeys({ builder, inputChannels }: CompiledGraph): GraphInputKeys {
  const channels = builder?._schemaDefinitions?.get(builder._inputDefinition);
  if (channels === undefined) return Array.isArray(inputChannels) ? inputChannels : null;
  const keys = Object.keys(channels);
  return keys.includes(ROOT) ? null : keys;
}
