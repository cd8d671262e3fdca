/** Response header of an agent-api's `/ok` with the path below which it serves everything. It reaches no client. */
export const MOUNT_PREFIX_HEADER = 'x-runyard-mount-prefix';

const LENGTH_MAX = 512;
/** Matches non-empty segments that need no encoding. */
const SEGMENTS = /^(\/[A-Za-z0-9._~!$&'()*+,;=:@-]+)+$/;
const DOT_SEGMENT = /\/\.{1,2}(\/|$)/;

/**
 * Returns whether every server interprets the path in the same way. Other prefixes, such as with `..`, `//` or `%2f`,
 * are served too, but no path below them is keyless: the gateway and the agent-api could interpret them differently.
 */
export function isMountPrefix(path: string): boolean {
  return path.length <= LENGTH_MAX && SEGMENTS.test(path) && !DOT_SEGMENT.test(path);
}
