/**
 * The exports of the project's own `@langchain/langgraph-checkpoint`, from 0.0.16 on, that this package uses: pass
 * the module itself. This package does not depend on LangGraph at run time, because the graph does not recognize the
 * classes of a second copy.
 */
export type CheckpointModule = Pick<
  typeof import('@langchain/langgraph-checkpoint'),
  | 'BaseCheckpointSaver'
  | 'BaseStore'
  | 'WRITES_IDX_MAP'
  | 'TASKS'
  | 'emptyCheckpoint'
  | 'getCheckpointId'
  | 'maxChannelVersion'
>;
