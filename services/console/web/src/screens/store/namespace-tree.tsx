import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { childNamespacesQuery, type Namespace, type StorePlace } from '../../platform/store.ts';
import type { StoreSearch } from './store-search.ts';

interface TreeProps {
  place: StorePlace;
  /** The namespace that is open. */
  current: Namespace;
}

const LINK = 'min-w-0 grow rounded px-1.5 py-1 no-underline [overflow-wrap:anywhere] hover:bg-raised';
const CURRENT = 'bg-chosen font-semibold';

/** The namespaces of a store, each with those below it, which are asked for as they are opened. */
export function NamespaceTree({ place, current }: TreeProps) {
  const isRoot = current.length === 0;
  return (
    <nav aria-label="Namespaces" className="flex min-w-0 flex-col gap-1 lg:max-h-[75dvh] lg:overflow-auto">
      <div className="flex">
        <NamespaceLink place={place} namespace={[]} isCurrent={isRoot} text="All items" />
      </div>
      <Children place={place} current={current} parent={[]} />
    </nav>
  );
}

function Children({ place, current, parent }: TreeProps & { parent: Namespace }) {
  const pages = useInfiniteQuery(childNamespacesQuery(place, parent));
  const labels = pages.data?.pages.flatMap((page) => page.labels) ?? [];
  return (
    <>
      <Fault error={pages.error} onRetry={() => void pages.refetch()} />
      {pages.isPending && <Loading what="namespaces" />}
      {pages.isSuccess && labels.length === 0 && !pages.hasNextPage && (
        <p className="px-1.5 text-xs text-faint">{parent.length === 0 ? 'No namespace yet' : 'No namespace below'}</p>
      )}
      {labels.length > 0 && (
        <ul className={parent.length === 0 ? '' : 'ml-3 border-l border-line pl-1'}>
          {labels.map((label) => (
            <Branch key={label} place={place} current={current} namespace={[...parent, label]} />
          ))}
        </ul>
      )}
      {pages.hasNextPage && (
        <Button
          size="small"
          className="self-start"
          unavailable={pages.isFetchingNextPage ? 'They are being read' : undefined}
          onClick={() => void pages.fetchNextPage()}
        >
          More namespaces
        </Button>
      )}
    </>
  );
}

function Branch({ place, current, namespace }: TreeProps & { namespace: Namespace }) {
  const label = namespace.at(-1)!;
  const isOnPath = namespace.every((each, index) => each === current[index]);
  const isCurrent = isOnPath && current.length === namespace.length;
  // Until somebody opens or closes it, a branch is open where what is shown is within it.
  const [chosen, setChosen] = useState<boolean>();
  const isOpen = chosen ?? (isOnPath && !isCurrent);
  return (
    <li className="flex min-w-0 flex-col">
      <div className="flex min-w-0 items-baseline">
        <Button
          look="quiet"
          size="small"
          aria-expanded={isOpen}
          aria-label={`Namespaces below ${label}`}
          onClick={() => setChosen(!isOpen)}
        >
          <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span>
        </Button>
        <NamespaceLink place={place} namespace={namespace} isCurrent={isCurrent} text={label} />
      </div>
      {isOpen && <Children place={place} current={current} parent={namespace} />}
    </li>
  );
}

interface NamespaceLinkProps {
  place: StorePlace;
  namespace: Namespace;
  isCurrent: boolean;
  text: string;
}

function NamespaceLink({ place, namespace, isCurrent, text }: NamespaceLinkProps) {
  const search = ({ query, filter }: StoreSearch): StoreSearch => ({
    ...(namespace.length > 0 && { namespace: [...namespace] }),
    ...(query && { query }),
    ...(filter && { filter }),
  });
  return (
    <Link
      to="/w/$workspaceId/deployments/$deploymentId/store"
      params={{ ...place }}
      search={search}
      // It is current at its namespace alone, of which the router knows no more than that it is a part of the address.
      activeOptions={{ exact: true, includeSearch: false }}
      activeProps={{ 'aria-current': isCurrent ? 'true' : undefined }}
      className={`${LINK} ${isCurrent ? CURRENT : ''}`}
    >
      {text}
    </Link>
  );
}
