import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { assistantPagesQuery, graphNamesQuery } from '../../platform/assistants.ts';
import { useWorkspace } from '../../session/session.ts';
import { AssistantFilter } from './assistant-filter.tsx';
import { AssistantTable } from './assistant-table.tsx';
import { CreateAssistant } from './create-assistant.tsx';

const ROUTE = '/signed-in/w/$workspaceId/deployments/$deploymentId/assistants';

/** The assistants of a deployment, by name. */
export function AssistantsTab() {
  const workspace = useWorkspace();
  const { workspaceId, deploymentId } = useParams({ from: ROUTE });
  const filters = useSearch({ from: ROUTE });
  const navigate = useNavigate({ from: '/w/$workspaceId/deployments/$deploymentId/assistants' });
  const [isMaking, setIsMaking] = useState(false);
  const graphs = useQuery(graphNamesQuery(workspaceId, deploymentId));
  const pages = useInfiniteQuery(assistantPagesQuery(workspaceId, deploymentId, filters));
  const assistants = pages.data?.pages.flatMap((page) => page.assistants) ?? [];
  const total = pages.data?.pages.at(-1)?.total;
  const isFiltered = filters.graph !== undefined || filters.name !== undefined;
  const unavailable =
    missingPermission(workspace.may('runs:create'), 'runs:create') ??
    (graphs.data?.length ? undefined : 'The graphs of the deployment are not known yet');
  return (
    <>
      <div className="flex flex-wrap items-end justify-between gap-3">
        <AssistantFilter
          key={filters.name}
          {...filters}
          graphs={graphs.data ?? []}
          onFilter={(change) => void navigate({ search: (before) => ({ ...before, ...change }) })}
        />
        <Button look="first" unavailable={unavailable} onClick={() => setIsMaking(true)}>
          New assistant
        </Button>
      </div>
      <Fault
        error={pages.error ?? graphs.error}
        onRetry={() => void Promise.all([pages.refetch(), graphs.refetch()])}
      />
      {pages.isPending && <Loading what="assistants" />}
      <p role="status" className="text-xs text-faint">
        {total !== undefined && `${total} ${total === 1 ? 'assistant' : 'assistants'}`}
      </p>
      {pages.isSuccess && assistants.length === 0 && (
        <Empty title={isFiltered ? 'No assistant is like that' : 'There is no assistant yet'}>
          {!isFiltered && 'Each graph has one as soon as a revision serves.'}
        </Empty>
      )}
      {assistants.length > 0 && <AssistantTable {...{ workspaceId, deploymentId, assistants }} />}
      {pages.hasNextPage && (
        <Button
          className="self-start"
          unavailable={pages.isFetchingNextPage ? 'They are being read' : undefined}
          onClick={() => void pages.fetchNextPage()}
        >
          More assistants
        </Button>
      )}
      <CreateAssistant
        isOpen={isMaking}
        onClose={() => setIsMaking(false)}
        {...{ workspaceId, deploymentId }}
        graphs={graphs.data ?? []}
        graph={filters.graph}
      />
    </>
  );
}
