import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { saveFile } from '../../components/save-file.ts';
import { Section } from '../../components/section.tsx';
import { useAction } from '../../components/use-action.ts';
import { auditQuery, exportAudit } from '../../platform/audit.ts';
import { AuditFilterForm } from './audit/audit-filter-form.tsx';
import { type AuditFilters, exportName, selectionOf } from './audit/audit-filters.ts';
import { AuditTable } from './audit/audit-table.tsx';
import { useNames } from './audit/use-names.ts';
import { VerifyAudit } from './audit/verify-audit.tsx';
import { useOrganization } from './parts/use-organization.ts';

/** Changes and decisions in the organization. The filters are those of the address. */
export function AuditTab() {
  const { workspaceId, missing } = useOrganization();
  const filters = useSearch({ strict: false }) as AuditFilters;
  const navigate = useNavigate({ from: '/w/$workspaceId/organization/audit' });
  const names = useNames();
  const [isVerifying, setIsVerifying] = useState(false);
  const exporting = useAction();
  const selected = useMemo(() => selectionOf(filters), [filters]);
  const query = useInfiniteQuery({ ...auditQuery(workspaceId, selected), placeholderData: keepPreviousData });
  const events = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data]);
  const actions = useMemo(() => [...new Set(events.map(({ action }) => action))].sort(), [events]);
  const unavailable = missing('organization:manage');
  const save = async () => saveFile(await exportAudit(workspaceId, selected), exportName(new Date()));
  return (
    <Section
      title="Audit trail"
      about="Who has changed what, and which sign-ins were allowed or refused."
      actions={
        <>
          <Button unavailable={unavailable} onClick={() => setIsVerifying(true)}>
            Verify …
          </Button>
          <Button
            unavailable={unavailable ?? (exporting.isBusy ? 'It is being read' : undefined)}
            onClick={() => void exporting.run(save)}
          >
            Export as JSON lines
          </Button>
        </>
      }
    >
      <AuditFilterForm
        {...{ filters, actions, names }}
        onChange={(search) => void navigate({ search, resetScroll: false })}
      />
      <Fault error={exporting.error} />
      <Fault error={query.error} onRetry={() => void query.refetch()} />
      {query.isPending && <Loading what="the events" />}
      {query.data && events.length === 0 && (
        <Empty title="No event is like this">Take a filter away, or choose a longer time.</Empty>
      )}
      {events.length > 0 && <AuditTable events={events} names={names} />}
      <div className="flex flex-wrap items-center gap-3">
        <p role="status" className="text-faint">
          {query.data && `${events.length} events are shown${query.hasNextPage ? ', and there are more' : ''}`}
        </p>
        {query.hasNextPage && (
          <Button
            unavailable={query.isFetchingNextPage ? 'They are being read' : undefined}
            onClick={() => void query.fetchNextPage()}
          >
            Show older events
          </Button>
        )}
      </div>
      {isVerifying && <VerifyAudit onClose={() => setIsVerifying(false)} />}
    </Section>
  );
}
