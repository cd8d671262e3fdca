/**
 * Returns the value that the share `q` (0–1) of the numbers does not exceed, by nearest rank; 0 when there are none.
 */
export function percentile(numbers: readonly number[], q: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? 0;
}
