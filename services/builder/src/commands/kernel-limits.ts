/** Limits that the kernel keeps. */
export interface KernelLimits {
  /** Bytes of one file. */
  fileBytes: number;
  /** Processes and threads of the user; null: no limit, because the user is this service's. */
  processes: number | null;
  /** Bytes of memory that one process may ask for. Default: no limit, as what runs JavaScript asks for more than it uses. */
  addressBytes?: number;
}

/** The units of the shell's limits of files and of memory. */
const [BLOCK_BYTES, KIBIBYTE] = [512, 1024];

/**
 * Sets the limits, and lets the kernel end what it becomes before all else when the machine has no memory left. The
 * score goes from -1000 (never killed) to 1000 (killed first).
 */
const SET_LIMITS = `
ulimit -f "$1"
[ -z "$2" ] || ulimit -p "$2" 2>/dev/null || ulimit -u "$2"
[ -z "$3" ] || ulimit -v "$3"
echo 500 2>/dev/null >/proc/self/oom_score_adj
shift 3
exec "$@"
`;

/** Returns the command line that becomes another one, under the limits. The process stays the same. */
export function withKernelLimits(
  { fileBytes, processes, addressBytes }: KernelLimits,
  command: string[],
): [string, ...string[]] {
  const memory = addressBytes === undefined ? '' : Math.ceil(addressBytes / KIBIBYTE);
  const bounds = [Math.ceil(fileBytes / BLOCK_BYTES), processes ?? '', memory].map(String);
  return ['/bin/sh', '-c', SET_LIMITS, 'runyard-limits', ...bounds, ...command];
}
