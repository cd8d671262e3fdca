import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { useWorkspace } from '../../session/session.ts';
import { CreateItem } from './create-item.tsx';
import { ItemList } from './item-list.tsx';
import { ItemSearchForm } from './item-search-form.tsx';
import { ItemView } from './item-view.tsx';
import { NamespaceTree } from './namespace-tree.tsx';

const ROUTE = '/signed-in/w/$workspaceId/deployments/$deploymentId/store';

/** The store of a deployment: its namespaces, and the items in the open one, or one of them. */
export function StoreTab() {
  const { may } = useWorkspace();
  const place = useParams({ from: ROUTE });
  const { namespace = [], key, query, filter } = useSearch({ from: ROUTE });
  const navigate = useNavigate({ from: '/w/$workspaceId/deployments/$deploymentId/store' });
  const [isMaking, setIsMaking] = useState(false);
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h2 className="min-w-0 text-lg font-semibold [overflow-wrap:anywhere]">
          {namespace.length === 0 ? 'All items' : namespace.join(' › ')}
        </h2>
        <Button
          look="first"
          unavailable={missingPermission(may('runs:update'), 'runs:update')}
          onClick={() => setIsMaking(true)}
        >
          New item
        </Button>
      </div>
      <div className="grid min-w-0 gap-6 lg:grid-cols-[minmax(0,16rem)_minmax(0,1fr)]">
        <NamespaceTree place={place} current={namespace} />
        <div className="flex min-w-0 flex-col gap-3">
          {key === undefined ? (
            <>
              <ItemSearchForm
                key={JSON.stringify([query, filter])}
                {...{ query, filter }}
                onSearch={({ query, filter }) =>
                  void navigate({
                    search: ({ namespace }) => ({
                      ...(namespace && { namespace }),
                      ...(query && { query }),
                      ...(filter && { filter }),
                    }),
                  })
                }
              />
              <ItemList place={place} search={{ namespace, query, filter }} />
            </>
          ) : (
            <ItemView
              key={JSON.stringify([namespace, key])}
              {...{ place, namespace }}
              itemKey={key}
              onLeave={() => void navigate({ search: ({ key: _key, ...before }) => before })}
            />
          )}
        </div>
      </div>
      {isMaking && <CreateItem {...{ place, namespace }} onClose={() => setIsMaking(false)} />}
    </>
  );
}
