/** Formats columns as wide as their widest cell, below their headings. */
export function formatTable(headings: string[], rows: string[][]): string {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [headings, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('\n');
}
