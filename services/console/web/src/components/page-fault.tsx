import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { PlatformError } from '../platform/ask.ts';
import { Fault } from './fault.tsx';
import { Missing } from './missing.tsx';

/** The error in place of a page that cannot be shown at all. */
export function PageFault({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  if (error instanceof PlatformError && error.status === 404) return <Missing />;
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return (
    <main className="p-6">
      <Fault error={error} onRetry={retry} />
    </main>
  );
}
