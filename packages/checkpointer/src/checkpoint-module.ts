/**
 * What is used of the project's own `@langchain/langgraph-checkpoint`, of any version 1: pass the module itself. Nothing of
 * LangGraph is a dependency of this package at run time, because a second copy of it would be a stranger to the graph.
 */
export type CheckpointModule = Pick<
  typeof import('@langchain/langgraph-checkpoint'),
  'BaseCheckpointSaver' | 'BaseStore' | 'WRITES_IDX_MAP' | 'TASKS' | 'getCheckpointId' | 'maxChannelVersion'
>;
