import type { ReactNode } from 'react';

/** A list without entries, and what to do about it. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="rounded border border-dashed border-line p-8 text-center">
      <p className="font-medium">{title}</p>
      {children && <div className="mt-2 text-faint">{children}</div>}
    </div>
  );
}
