/** A graph that says who it runs for, and keeps what it is told in that user's part of the store. */
import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  /** A note to keep. */
  note: Annotation<string | undefined>,
  /** The user by each of the names under which code finds it. */
  users: Annotation<unknown[]>,
  /** The notes of the user. */
  notes: Annotation<string[]>,
});

async function look({ note }: typeof State.State, config: LangGraphRunnableConfig) {
  const { svc_auth_user: user, langgraph_auth_user: again, user_id: id } = config.configurable ?? {};
  const { serverInfo } = config as { serverInfo?: { user?: { identity?: string } } };
  const namespace = [String(id), 'notes'];
  if (note !== undefined) await config.store?.put(namespace, note, { note });
  const kept = (await config.store?.search(namespace)) ?? [];
  return {
    users: [user, again, id, serverInfo?.user?.identity ?? null],
    notes: kept.map(({ value }) => String(value.note)).sort(),
  };
}

export const graph = new StateGraph(State).addNode('look', look).addEdge(START, 'look').addEdge('look', END).compile();
