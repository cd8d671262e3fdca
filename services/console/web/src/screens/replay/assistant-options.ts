import type { Assistant } from '@runyard/contracts';

/** The run that is replayed: its graph and its assistant. */
interface Replayed {
  graph: string;
  ofRun: string;
}

/** Lists assistants to choose from, those of the graph of the run first. Those of other graphs say which. */
export function assistantOptions(
  assistants: readonly Assistant[],
  { graph, ofRun }: Replayed,
): { value: string; label: string }[] {
  const isOfGraph = ({ graph_id: each }: Assistant) => each === graph;
  const sorted = [...assistants.filter(isOfGraph), ...assistants.filter((each) => !isOfGraph(each))];
  return sorted.map((assistant) => {
    const { assistant_id: value, name, graph_id: other } = assistant;
    const notes = [value === ofRun && 'as it was', !isOfGraph(assistant) && `graph ${other}`].filter(Boolean);
    return { value, label: notes.length > 0 ? `${name} (${notes.join(', ')})` : name };
  });
}

/** Returns the assistant that is suggested: another one of the same graph, else the same. */
export function suggestAssistant(assistants: readonly Assistant[], { graph, ofRun }: Replayed): string | undefined {
  const ofGraph = assistants.filter(({ graph_id: each }) => each === graph);
  const suggested = ofGraph.find(({ assistant_id: id }) => id !== ofRun) ?? ofGraph[0];
  return suggested?.assistant_id;
}
