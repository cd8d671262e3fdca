import { Link, type LinkProps } from '@tanstack/react-router';

export interface Tab {
  label: string;
  link: Pick<LinkProps, 'to' | 'params' | 'search'>;
  /** Whether only this very address is the tab's, and not those below it. */
  isExact?: boolean;
  /** Whether the page is below the tab, at an address that does not say so. */
  isCurrent?: boolean;
}

const CURRENT = 'border-action font-semibold text-text';
const OTHER = 'border-transparent text-faint hover:text-text';

/** The parts of a page as links: each has an address of its own, and the back button leads to the former one. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  return (
    <nav aria-label={label} className="overflow-x-auto border-b border-line">
      <ul className="flex min-w-max gap-1">
        {tabs.map(({ label, link, isExact = false, isCurrent = false }) => (
          <li key={label}>
            <Link
              {...link}
              activeOptions={{ exact: isExact, includeSearch: false }}
              activeProps={{ 'aria-current': 'page', className: CURRENT }}
              inactiveProps={isCurrent ? { 'aria-current': 'true', className: CURRENT } : { className: OTHER }}
              className="-mb-px inline-block border-b-2 px-3 py-2 no-underline focus-visible:-outline-offset-2"
            >
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
