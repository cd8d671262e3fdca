import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { Cell, HeadCell, Row, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { type ItemSearch, itemsQuery, type StorePlace } from '../../platform/store.ts';
import { KeyText } from './key-text.tsx';
import type { StoreSearch } from './store-search.ts';

const VALUE_MAX = 200;

/** The items in a namespace and below it, as far as a search leaves them. */
export function ItemList({ place, search }: { place: StorePlace; search: ItemSearch }) {
  const pages = useInfiniteQuery(itemsQuery(place, search));
  const items = pages.data?.pages.flat() ?? [];
  const isRanked = search.query !== undefined;
  const columns = ['Key', 'Namespace', 'Value', ...(isRanked ? ['Score'] : []), 'Changed'];
  return (
    <>
      <Fault error={pages.error} onRetry={() => void pages.refetch()} />
      {pages.isPending && <Loading what="items" />}
      <p role="status" className="text-xs text-faint">
        {pages.isSuccess &&
          `${items.length}${pages.hasNextPage ? ' or more' : ''} ${items.length === 1 ? 'item' : 'items'}, ${isRanked ? 'the nearest' : 'what changed last'} first`}
      </p>
      {pages.isSuccess && items.length === 0 && <NoItems search={search} />}
      {items.length > 0 && (
        <Table caption="Items" columns={columns}>
          {items.map((item) => (
            <Row key={JSON.stringify([item.namespace, item.key])}>
              <HeadCell>
                <Link
                  to="/w/$workspaceId/deployments/$deploymentId/store"
                  params={{ ...place }}
                  search={(before: StoreSearch) => ({ ...before, namespace: item.namespace, key: item.key })}
                >
                  <KeyText text={item.key} />
                </Link>
              </HeadCell>
              <Cell label="Namespace">{item.namespace.join(' › ')}</Cell>
              <Cell label="Value">
                <code className="line-clamp-2 text-xs text-faint">{firstOf(item.value)}</code>
              </Cell>
              {isRanked && <Cell label="Score">{item.score?.toFixed(3) ?? '–'}</Cell>}
              <Cell label="Changed">
                <Time at={item.updated_at} />
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      {pages.hasNextPage && (
        <Button
          className="self-start"
          unavailable={pages.isFetchingNextPage ? 'They are being read' : undefined}
          onClick={() => void pages.fetchNextPage()}
        >
          More items
        </Button>
      )}
    </>
  );
}

function NoItems({ search: { query, filter, namespace } }: { search: ItemSearch }) {
  if (query !== undefined)
    return (
      <Empty title="No item is near to that">
        Only items with embedded texts are found by meaning: the project names them with store.index.
      </Empty>
    );
  if (filter) return <Empty title="No item is like that" />;
  return (
    <Empty title={namespace.length === 0 ? 'The store has no item yet' : 'There is no item here any more'}>
      Graphs write items, and so may you.
    </Empty>
  );
}

function firstOf(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX)} …` : text;
}
