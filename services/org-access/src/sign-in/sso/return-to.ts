const HOME = '/';

/** Returns a path of this site to go on to after sign-in; `/` for everything else. */
export function checkedReturnTo(text: string | undefined): string {
  // Browsers read `\` as `/`, and remove tabs and line ends: `//host` and its variants lead elsewhere.
  if (text === undefined || !/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text) || text.length > 2_000) return HOME;
  const url = new URL(text, 'http://localhost');
  return url.host === 'localhost' ? url.pathname.replace(/^\/{2,}/, '/') + url.search : HOME;
}
