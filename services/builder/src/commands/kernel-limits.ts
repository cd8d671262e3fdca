/** Limits that the kernel keeps. */
export interface KernelLimits {
  /** Bytes of one file. */
  fileBytes: number;
  /** Processes and threads of the user; null: no limit, because the user is this service's. */
  processes: number | null;
}

/** The unit of the shell's limit of files. */
const BLOCK_BYTES = 512;

/**
 * Sets the limits, and lets the kernel end what it becomes before all else when the machine has no memory left. The
 * score goes from -1000 (never killed) to 1000 (killed first).
 */
const SET_LIMITS = `
ulimit -f "$1"
[ -z "$2" ] || ulimit -p "$2" 2>/dev/null || ulimit -u "$2"
echo 500 2>/dev/null >/proc/self/oom_score_adj
shift 2
exec "$@"
`;

/** Returns the command line that becomes another one, under the limits. The process stays the same. */
export function withKernelLimits({ fileBytes, processes }: KernelLimits, command: string[]): [string, ...string[]] {
  const bounds = [String(Math.ceil(fileBytes / BLOCK_BYTES)), String(processes ?? '')];
  return ['/bin/sh', '-c', SET_LIMITS, 'runyard-limits', ...bounds, ...command];
}
