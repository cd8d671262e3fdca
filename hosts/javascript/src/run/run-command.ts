/** Turns commands of clients into those of the project's LangGraph. */
import type { ExecutionRequest } from '@runyard/host-protocol/graph-process';
import type { LangGraphModule } from '../langgraph/graph-types.ts';

export function toCommand(langgraph: LangGraphModule, command: NonNullable<ExecutionRequest['command']>): object {
  const { resume, update, goto } = command;
  const targets = goto === undefined || goto === null ? undefined : [goto].flat();
  return new langgraph.Command({
    ...(resume !== undefined && { resume }),
    ...(update !== undefined && update !== null && { update }),
    ...(targets !== undefined && { goto: targets.map((target) => toTarget(langgraph, target)) }),
  });
}

/**
 * Returns a node's name, or a `Send` for `{node, input}`, which starts the node with its own input. LangGraph calls the
 * input `args`.
 */
function toTarget(langgraph: LangGraphModule, target: unknown): unknown {
  if (typeof target !== 'object' || target === null || !('node' in target)) return target;
  const { node, input, args } = target as { node: string; input?: unknown; args?: unknown };
  return new langgraph.Send(node, (input === undefined ? args : input) ?? null);
}
