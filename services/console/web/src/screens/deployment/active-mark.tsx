/** Marks the revision that serves. */
export function ActiveMark() {
  return (
    <span className="ml-2 inline-block rounded border border-good px-1.5 text-xs font-semibold text-good">active</span>
  );
}
