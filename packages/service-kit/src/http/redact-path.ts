/** Matches a token in a path: it gives its holder the rights of the person it was issued to. */
const SECRET = /(\/feedback\/tokens\/)[^/]+/;

/** Returns the path for a log, without secrets. */
export function redactPath(path: string): string {
  return path.replace(SECRET, '$1…');
}
