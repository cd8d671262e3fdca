import { Link } from '@tanstack/react-router';

/** An address without a page, or of something that the person may not see: the two look alike. */
export function Missing({ what = 'This page' }: { what?: string }) {
  return (
    <main className="mx-auto max-w-prose p-8">
      <h1 className="text-xl font-semibold">{what} is not there</h1>
      <p className="mt-2 text-faint">It has been deleted, or you may not see it.</p>
      <p className="mt-4">
        <Link to="/">Go to the start</Link>
      </p>
    </main>
  );
}
