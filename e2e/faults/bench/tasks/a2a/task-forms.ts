/** The forms of A2A 1.0 over HTTP that clients of the bench look into. */

export interface A2aTask {
  id: string;
  contextId: string;
  status: { state: string };
  artifacts?: Artifact[];
}

interface Artifact {
  parts: { text?: string; data?: { value?: unknown } }[];
}

export interface TaskEvent {
  task?: A2aTask;
  statusUpdate?: { taskId: string; status: { state: string } };
  artifactUpdate?: { taskId: string; artifact: Artifact; append?: boolean; lastChunk?: boolean };
}

const ENDED = ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED'];

export const NEEDS_INPUT = 'TASK_STATE_INPUT_REQUIRED';

export function hasEnded(state: string | undefined): boolean {
  return state !== undefined && ENDED.includes(state);
}

export function textOf(artifact: Artifact | undefined): string | undefined {
  return artifact?.parts.map(({ text = '' }) => text).join('');
}
