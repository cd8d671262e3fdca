/** Recognizes secrets in text and in structured fields, for the log and for error texts that callers see. */

export const REDACTED = '[redacted]';

const SECRET_KEYS =
  /(authorization|api[-_]?key|apikey|secret|passw(or)?d|credential|cookie|private[-_]?key|encryption[-_]?key|connection[-_]?string|runyard-principal)|(^|[-_.])(token|dsn)$|(database|postgres|redis)[-_]?ur[il]$|[a-z]Token$/i;

const PATTERNS: readonly [RegExp, string][] = [
  // A server's password that was not encoded may contain slashes and at signs.
  [/\b((?:postgres(?:ql)?|rediss?|mysql|mariadb|mongodb(?:\+srv)?|amqps?):\/\/)[^\s"']{1,500}@/gi, `$1${REDACTED}@`],
  // Matches user:password@ of any URL; the rest of the URL names the server for the operator.
  [/\b([a-z][a-z0-9+.-]{1,30}:\/\/)[^\s/@"']{1,500}@/gi, `$1${REDACTED}@`],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${REDACTED}`],
  // A token that begins inside of another is its own, so that each character is looked at once.
  [/\beyJ(?:[A-Za-z0-9_]|-(?!eyJ)){5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*/g, REDACTED],
  [
    /\b(lsv2_(sk|pt)_|rys_|rld_|rdt_|ls__|sk-|sk_(live|test)_|rk_live_|gh[oprsu]_|github_pat_|xox[abprs]-|glpat-|AIza|AKIA|ASIA)[A-Za-z0-9_-]{8,}/g,
    REDACTED,
  ],
  [
    /(?:\b|(?<=_)(?=passw|pwd))((?:api[-_]?key|password|passwd|pwd|secret|access[-_]?token|auth[-_]?token|token)["']?\s*[=:]\s*["']?)[^\s"',;&)}\]]{3,}/gi,
    `$1${REDACTED}`,
  ],
  [
    /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?!-----BEGIN )[\s\S]){0,8192}?(-----END [A-Z ]*PRIVATE KEY-----|$|(?=-----BEGIN ))/g,
    REDACTED,
  ],
];

/** Masks credentials inside a text. */
export function redactText(text: string): string {
  let masked = text;
  for (const [pattern, replacement] of PATTERNS) masked = masked.replace(pattern, replacement);
  return masked;
}

function isSecretKey(key: string): boolean {
  return SECRET_KEYS.test(key);
}

const DEPTH_MAX = 6;
const ITEMS_MAX = 100;

/** Returns a copy for the log: secrets masked by key and by pattern, errors written out, depth and length limited. */
export function redactFields(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Date) return value.toISOString();
  if (depth >= DEPTH_MAX) return '[deeper]';
  if (value instanceof Error) return redactError(value, depth);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map((item) => redactFields(item, depth + 1));
  const copy: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value)) {
    copy[key] = isSecretKey(key) && isMaskable(field) ? REDACTED : redactFields(field, depth + 1);
  }
  return copy;
}

function isMaskable(field: unknown): boolean {
  return typeof field === 'string' || (typeof field === 'object' && field !== null);
}

function redactError(error: Error, depth: number): Record<string, unknown> {
  const { name, message, stack, cause, ...fields } = error as Error & Record<string, unknown>;
  return {
    name: error.name ?? name,
    message: redactText(error.message ?? message),
    stack: redactText(error.stack ?? String(stack)),
    ...(error.cause === undefined ? {} : { cause: redactFields(error.cause ?? cause, depth + 1) }),
    ...(redactFields(fields, depth + 1) as Record<string, unknown>),
  };
}
