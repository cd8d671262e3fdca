import { updateAdvice } from './update-advice.ts';

/** The oldest releases whose saver and streams the host supports. */
const OLDEST_SUPPORTED = { '@langchain/langgraph': '0.2.57', '@langchain/langgraph-checkpoint': '0.0.16' } as const;

/**
 * Returns the sentence about a release that is too old; undefined for one that is supported.
 *
 * @param file a file of the project
 */
export function describeTooOld(name: keyof typeof OLDEST_SUPPORTED, version: string, file: string): string | undefined {
  const oldest = OLDEST_SUPPORTED[name];
  if (!isBefore(version, oldest)) return undefined;
  const advice = updateAdvice(name, file, oldest.replace(/\.\d+$/, ''));
  return `The project has ${name} ${version}; the oldest supported version is ${oldest}. ${advice}`;
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
