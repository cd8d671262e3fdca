/**
 * Tells cheaply whether a path may be one that routes of an app are made for. It may say yes too often and never no by
 * mistake: only the fixed beginning of each pattern is compared, and a path with escapes always passes.
 */
export function pathFilter(patterns: readonly string[]): (path: string) => boolean {
  const beginnings = [...new Set(patterns.map(fixedBeginning))];
  if (beginnings.includes('')) return () => true;
  return (path) => path.includes('%') || beginnings.some((beginning) => path.startsWith(beginning));
}

/** `/custom` of `/custom/:id` and of `/custom/*`, both of which may also stand for `/custom`. */
function fixedBeginning(pattern: string): string {
  const [beginning = ''] = pattern.split(/[:*{]/, 1);
  return beginning.replace(/\/+$/, '');
}
