import { PlatformError } from '../platform/ask.ts';
import { Button } from './button.tsx';

/** A line that says what went wrong, beside what is still on the screen. */
export function Fault({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  if (!error) return null;
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-3 rounded border border-fault bg-card px-3 py-2 text-fault"
    >
      <span className="min-w-0 break-words">{faultText(error)}</span>
      {onRetry && (
        <Button size="small" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** Returns the sentence about an error of the platform, or of the page itself. */
export function faultText(error: unknown): string {
  if (error instanceof PlatformError && error.status === 403) return `You may not do this: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
