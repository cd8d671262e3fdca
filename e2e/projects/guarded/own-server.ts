/** A graph that asks the server of its own deployment by the variables that name it, as code for other servers does. */
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  /** The address of the server. */
  url: Annotation<string>,
  /** The status of each answer. */
  statuses: Annotation<number[]>,
  /** A thread that the graph made. */
  made: Annotation<string>,
  /** The threads that the server shows. */
  found: Annotation<string[]>,
});

async function ask() {
  const { LANGGRAPH_API_URL: url = '', PORT: port } = process.env;
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const created = await fetch(`${url}/threads`, { ...init, body: '{}' });
  const { thread_id: made } = (await created.json()) as { thread_id: string };
  const searched = await fetch(`http://localhost:${port}/threads/search`, { ...init, body: '{"limit":1000}' });
  const found = (await searched.json()) as { thread_id: string }[];
  return { url, statuses: [created.status, searched.status], made, found: found.map(({ thread_id }) => thread_id) };
}

export const graph = new StateGraph(State).addNode('ask', ask).addEdge(START, 'ask').addEdge('ask', END).compile();
