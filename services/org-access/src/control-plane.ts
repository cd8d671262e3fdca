import { InternalClient } from '@runyard/service-kit';
import type { Config } from './config.ts';

/** control-plane answers within milliseconds or not at all. */
const TIMEOUT_MS = 2_000;

/** Returns a client of control-plane; null without one. */
export function controlPlaneOf({
  CONTROL_PLANE_URL: url,
  INTERNAL_TOKEN: internalToken,
}: Config): InternalClient | null {
  if (!url) return null;
  return new InternalClient({ service: 'control-plane', url, internalToken, timeoutMs: TIMEOUT_MS });
}
