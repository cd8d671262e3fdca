/**
 * Returns a cheap test whether routes of an app may match a path. It may say yes too often and never no by mistake: it
 * compares only the fixed beginning of each pattern, and a path with escapes always passes.
 */
export function pathFilter(patterns: readonly string[]): (path: string) => boolean {
  const beginnings = [...new Set(patterns.map(fixedBeginning))];
  if (beginnings.includes('')) return () => true;
  return (path) => path.includes('%') || beginnings.some((beginning) => path.startsWith(beginning));
}

/** Returns `/custom` for `/custom/:id` and `/custom/*`, both of which may also stand for `/custom`. */
function fixedBeginning(pattern: string): string {
  const [beginning = ''] = pattern.split(/[:*{]/, 1);
  return beginning.replace(/(?<!\/)\/+$/, '');
}
