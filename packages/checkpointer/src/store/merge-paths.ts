/**
 * Returns one path that matches exactly what all the given ones match, aligned at their start or end; `*` stands for
 * any one segment. Undefined for no paths, `impossible` when two contradict each other.
 */
export function mergePaths(paths: string[][], align: 'start' | 'end'): string[] | undefined | 'impossible' {
  if (paths.length === 0) return undefined;
  const aligned = align === 'start' ? paths : paths.map((path) => path.toReversed());
  const merged: string[] = [];
  for (const path of aligned) {
    for (const [position, segment] of path.entries()) {
      const known = merged[position] ?? '*';
      if (known !== '*' && segment !== '*' && known !== segment) return 'impossible';
      merged[position] = known === '*' ? segment : known;
    }
  }
  return align === 'start' ? merged : merged.toReversed();
}
