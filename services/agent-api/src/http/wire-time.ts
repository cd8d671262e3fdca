/** Formats a time as the agent server writes it: microseconds and an offset, `2026-11-20T20:18:31.041000+00:00`. */
export function toWireTime(time: Date): string {
  return time.toISOString().replace('Z', '000+00:00');
}
