/** The line in place of content that comes. It is quiet for a moment, so that fast answers do not flicker. */
export function Loading({ what }: { what: string }) {
  return (
    <p role="status" className="animate-pulse p-2 text-faint [animation-delay:300ms]">
      Loading {what} …
    </p>
  );
}
