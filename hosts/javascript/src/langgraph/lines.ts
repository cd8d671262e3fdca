/** The older lines of LangGraph lack some features. The host adds them, so that clients find every line alike. */
import { isBefore } from '@runyard/project/supported-releases';

export interface LangGraphLine {
  /** The graph streams modes `tasks` and `checkpoints`, and interrupts among its values. */
  streamsTasksAndInterrupts: boolean;
}

export function lineOf(version: string): LangGraphLine {
  return { streamsTasksAndInterrupts: !isBefore(version, '0.3.6') };
}
