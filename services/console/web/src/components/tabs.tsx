import { Link, type LinkProps } from '@tanstack/react-router';

export interface Tab {
  label: string;
  link: Pick<LinkProps, 'to' | 'params' | 'search'>;
  /** True if the tab is current at its own address only, and not at those below it. */
  isExact?: boolean;
  /** True if the page belongs to the tab, though its address does not show it. */
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
