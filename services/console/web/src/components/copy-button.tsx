import { useEffect, useState } from 'react';
import { Button } from './button.tsx';

const SHOWN_MS = 2_000;

/** Copies a text, and says so for a moment. */
export function CopyButton({ what, text }: { what: string; text: () => string }) {
  const [said, setSaid] = useState<string>();
  useEffect(() => {
    if (said === undefined) return;
    const timer = setTimeout(() => setSaid(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = () => {
    navigator.clipboard.writeText(text()).then(
      () => setSaid('Copied'),
      () => setSaid('Not copied'),
    );
  };
  return (
    <>
      <Button size="small" onClick={copy} aria-label={`Copy ${what}`}>
        {said ?? 'Copy'}
      </Button>
      <span role="status" className="sr-only">
        {said}
      </span>
    </>
  );
}
