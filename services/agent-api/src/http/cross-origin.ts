import type { HttpSection } from '@runyard/project';
import { ANY_ORIGIN, type CorsRules } from '@runyard/service-kit';

/** Names of this machine, as URLs have them. */
export const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Returns whether a page comes from a server on the machine of its reader. */
export function isLoopbackOrigin(origin: string): boolean {
  return URL.canParse(origin) && LOOPBACK_NAMES.has(new URL(origin).hostname);
}

/**
 * Returns which pages of other origins may call: `http.cors` decides, else the variable `CORS_ALLOW_ORIGINS`, else all
 * may.
 */
export function corsRulesOf(cors: HttpSection['cors'], allowOrigins: readonly string[]): CorsRules {
  if (cors === undefined) return { ...ANY_ORIGIN, origins: allowOrigins };
  const { allow_origins: origins, allow_origin_regex: pattern } = cors;
  return {
    // A pattern without a list allows nobody else.
    origins: origins ?? (pattern === undefined ? ['*'] : []),
    ...(pattern !== undefined && { originPattern: new RegExp(`^(?:${pattern})$`) }),
    methods: cors.allow_methods ?? ['*'],
    headers: cors.allow_headers ?? ['*'],
    credentials: cors.allow_credentials ?? false,
    exposed: cors.expose_headers ?? [],
    maxAgeSeconds: cors.max_age ?? ANY_ORIGIN.maxAgeSeconds,
  };
}
