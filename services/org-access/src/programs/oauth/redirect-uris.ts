const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1']);
const LENGTH_MAX = 500;

/**
 * Returns whether codes may be sent to an address: by HTTPS, or by HTTP to the client's own machine. Schemes of
 * applications are not accepted: every application of a machine can take one.
 */
export function isRedirectUri(text: string): boolean {
  const url = parse(text);
  if (!url || text.length > LENGTH_MAX || text.includes('#') || url.username !== '' || url.password !== '')
    return false;
  return url.protocol === 'https:' || isLoopback(url);
}

/** Returns whether an address is a registered one. On the client's own machine the port may be another (RFC 8252). */
export function isRegistered(text: string, registered: readonly string[]): boolean {
  if (registered.includes(text)) return true;
  const url = parse(text);
  if (!url || !isRedirectUri(text) || !isLoopback(url)) return false;
  return registered.some((each) => withoutPort(each) === withoutPort(text));
}

function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && LOOPBACK.has(hostname);
}

function withoutPort(text: string): string {
  const url = new URL(text);
  url.port = '';
  return url.href;
}

function parse(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
