/** Streams a graph's run as events of the event protocol, whatever LangGraph the project has. */
import type { CompiledGraph, GraphConfig, GraphEvent } from '../langgraph/graph-types.ts';
import type { ProjectModules } from '../langgraph/langchain-modules.ts';
import { OlderProtocol } from './older-protocol.ts';
import { laterChunks, requestedModes, type StreamChunk } from './older-streams.ts';

/** The modes from which the events are made where LangGraph does not make them. */
const MODES = ['values', 'updates', 'messages', 'tools', 'custom', 'tasks', 'checkpoints'];

export async function* streamProtocol(
  graph: CompiledGraph,
  input: unknown,
  config: GraphConfig,
  { langgraph, line }: Pick<ProjectModules, 'langgraph' | 'line'>,
): AsyncGenerator<GraphEvent, void, undefined> {
  if (langgraph.STREAM_EVENTS_V3_MODES) {
    const events: unknown = await graph.streamEvents(input, { ...config, version: 'v3' });
    yield* events as AsyncIterable<GraphEvent>;
    return;
  }
  const older = new OlderProtocol();
  const options = { ...config, streamMode: requestedModes(MODES, line), subgraphs: true };
  try {
    for await (const chunk of await graph.stream(input, options)) {
      const [namespace, mode, payload] = chunk as [string[] | null, string, unknown];
      for (const later of laterChunks([namespace ?? [], mode, payload] satisfies StreamChunk, line)) {
        yield* older.convert(later);
      }
    }
    yield* older.end('completed');
  } catch (error) {
    yield* older.end('failed');
    throw error;
  }
}
