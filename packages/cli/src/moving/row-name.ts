/** Names a row for people and sums. One that is so odd that it has no name stops nothing. */
export function nameOf<T>(row: T, read: (row: T) => string): string {
  try {
    const name: unknown = read(row);
    if (typeof name === 'string') return name;
  } catch {}
  return '(no name)';
}
