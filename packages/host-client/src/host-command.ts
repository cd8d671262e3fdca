import { childFiles } from './child-files.ts';

/** The file descriptor beside the connection's. */
export const PULSE_FD = 4;

/** Starts the host of one language. */
export interface HostCommand {
  command: string;
  args: string[];
  /** Variables of the host itself, over those of the project's code. */
  environment?: Record<string, string>;
  /** True when the host writes to `PULSE_FD` as long as its process lives, also when code blocks its event loop. */
  hasPulse?: boolean;
  /** Matches the line that the host's runtime prints when it has run out of memory. */
  outOfMemory?: RegExp;
}

/**
 * Graphs make much short-lived garbage. With a larger young generation it is collected less often, which saves an
 * eighth of the CPU.
 */
const YOUNG_GENERATION = '--max-semi-space-size=32';
/** Smaller heaps keep V8's default: the larger young generation would be most of the heap. */
const LARGE_HEAP_MB = 512;

/** @param heapLimitMb V8 old-space limit */
export function javaScriptHost(heapLimitMb?: number): HostCommand {
  return {
    command: process.execPath,
    args: [
      ...(heapLimitMb === undefined ? [] : [`--max-old-space-size=${heapLimitMb}`]),
      ...((heapLimitMb ?? LARGE_HEAP_MB) >= LARGE_HEAP_MB ? [YOUNG_GENERATION] : []),
      // Packages must be resolved from the project's files, as its own imports are.
      '--experimental-import-meta-resolve',
      '--disable-warning=ExperimentalWarning',
      '--import',
      childFiles.loader,
      childFiles.entry,
    ],
    outOfMemory: /^FATAL ERROR: .*(out of memory|Allocation failed)/,
  };
}
