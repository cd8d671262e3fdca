/** Formats what is known of one thing, a line each: a label, and after it a value in one column. */
export function formatDetails(details: readonly (readonly [label: string, value: string])[]): string {
  const width = Math.max(...details.map(([label]) => label.length));
  return details.map(([label, value]) => `${label.padEnd(width)}  ${value}`.trimEnd()).join('\n');
}
