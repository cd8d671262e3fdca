import { Button } from '../../../components/button.tsx';

/** Leads through the pages of a list, where it has several. */
export function Pages({
  what,
  page,
  size,
  total,
  onPage,
}: {
  what: string;
  page: number;
  size: number;
  total: number;
  onPage: (page: number | undefined) => void;
}) {
  const last = Math.max(1, Math.ceil(total / size));
  return (
    <div className="flex flex-wrap items-center gap-3">
      <p role="status" className="text-faint">
        {total} {what}
        {last > 1 && `, page ${page} of ${last}`}
      </p>
      {last > 1 && (
        <nav aria-label={`Pages of ${what}`} className="flex gap-2">
          <Button
            size="small"
            unavailable={page <= 1 ? 'This is the first page' : undefined}
            onClick={() => onPage(page > 2 ? page - 1 : undefined)}
          >
            Back
          </Button>
          <Button
            size="small"
            unavailable={page >= last ? 'This is the last page' : undefined}
            onClick={() => onPage(page + 1)}
          >
            Next
          </Button>
        </nav>
      )}
    </div>
  );
}
