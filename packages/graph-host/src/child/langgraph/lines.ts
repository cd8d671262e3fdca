/** The older lines of LangGraph lack some features. The host adds them, so that clients find every line alike. */

export interface LangGraphLine {
  /** The graph streams modes `tasks` and `checkpoints`, and interrupts among its values. */
  streamsTasksAndInterrupts: boolean;
}

export function lineOf(version: string): LangGraphLine {
  return { streamsTasksAndInterrupts: !isBefore(version, '0.3.6') };
}

/** Compares major, minor and patch; a prerelease counts as its release. */
export function isBefore(version: string, other: string): boolean {
  const [ours, theirs] = [numbersOf(version), numbersOf(other)];
  const at = ours.findIndex((number, index) => number !== theirs[index]);
  return at >= 0 && ours[at]! < theirs[at]!;
}

function numbersOf(version: string): number[] {
  const [major = 0, minor = 0, patch = 0] = (version.split(/[-+]/)[0] ?? '').split('.').map(Number);
  return [major, minor, patch];
}
