import { type GraphModel, topOf } from './graph-model.ts';

export type NodeStatus = 'running' | 'interrupted' | 'failed' | 'done' | 'unfinished';

/** How a node of a graph stands in a run. */
export interface NodePosition {
  status: NodeStatus;
  /** How many tasks of it there were. */
  times: number;
}

/** The nodes that a run has come to, by the ids that they have in the drawing. */
export type RunPosition = ReadonlyMap<string, NodePosition>;

interface StatusLook {
  sign: string;
  word: string;
  /** The classes of its text and its border. */
  colour: string;
}

/** Shows each status by a sign, a word and a colour: colour alone says nothing. */
export const STATUS_LOOKS: Record<NodeStatus, StatusLook> = {
  running: { sign: '●', word: 'runs now', colour: 'text-wait border-wait' },
  interrupted: { sign: '?', word: 'interrupted', colour: 'text-wait border-wait' },
  failed: { sign: '✕', word: 'failed', colour: 'text-fault border-fault' },
  done: { sign: '✓', word: 'ran', colour: 'text-good border-good' },
  unfinished: { sign: '○', word: 'not finished', colour: 'text-faint border-edge' },
};

/** Says how a node stands in a run: `ran, 3 times`. */
export function sayPosition({ status, times }: NodePosition): string {
  const { word } = STATUS_LOOKS[status];
  return times === 1 ? word : `${word}, ${times} times`;
}

/** Names the nodes of a run that its graph does not have now, as another revision or configuration made it. */
export function nodesBeyond(position: RunPosition, { nodes, groups }: GraphModel): string[] {
  const known = new Set([...nodes, ...groups].map(({ id }) => id));
  return [...new Set([...position.keys()].map(topOf))].filter((id) => !known.has(id));
}
