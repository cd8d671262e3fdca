const LENGTH_MAX = 2_048;

/**
 * Returns the path that a browser goes to after a sign-in; undefined for anything but a path of this host, so that no link
 * to our page leads on to somebody else's.
 */
export function localPath(text: string | undefined): string | undefined {
  if (text === undefined || text.length > LENGTH_MAX || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text)) return undefined;
  const base = 'http://here.invalid';
  return URL.canParse(text, base) && new URL(text, base).origin === base && !text.includes('\\') ? text : undefined;
}
