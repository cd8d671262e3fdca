/** The line in place of content that comes. */
export function Loading({ what }: { what: string }) {
  return (
    <p role="status" className="p-2 text-faint">
      Loading {what} …
    </p>
  );
}
