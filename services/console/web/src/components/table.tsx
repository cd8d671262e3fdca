import type { ReactNode } from 'react';

const CELL = 'px-3 py-2 align-baseline max-md:block max-md:py-0.5';

/** A table, whose rows stand one below the other where the window is narrow. */
export function Table({ caption, columns, children }: { caption: string; columns: string[]; children: ReactNode }) {
  return (
    <div className="overflow-x-auto rounded border border-line bg-card">
      <table className="w-full text-left max-md:block">
        <caption className="sr-only">{caption}</caption>
        <thead className="text-xs text-faint max-md:sr-only">
          <tr className="border-b border-line">
            {columns.map((title) => (
              <th key={title} scope="col" className="px-3 py-2 font-semibold">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="max-md:block">{children}</tbody>
      </table>
    </div>
  );
}

export function Row({ children }: { children: ReactNode }) {
  return <tr className="border-b border-line last:border-0 max-md:block max-md:py-2">{children}</tr>;
}

/** The cell that names its row. */
export function HeadCell({ children }: { children: ReactNode }) {
  return (
    <th scope="row" className={`${CELL} font-medium [overflow-wrap:anywhere]`}>
      {children}
    </th>
  );
}

/** A cell that says what it is where the window has no room for the head of the table. */
export function Cell({ label, children }: { label?: string; children: ReactNode }) {
  return (
    <td className={`${CELL} [overflow-wrap:anywhere]`}>
      {label && (
        <span aria-hidden="true" className="mr-2 text-xs text-faint md:hidden">
          {label}
        </span>
      )}
      {children}
    </td>
  );
}

/** The cell of the buttons of a row. */
export function ActionCell({ children }: { children: ReactNode }) {
  return (
    <td className={CELL}>
      <div className="flex flex-wrap gap-2 md:justify-end">{children}</div>
    </td>
  );
}
