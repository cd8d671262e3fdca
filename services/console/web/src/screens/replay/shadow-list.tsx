import type { JournalRun } from '@runyard/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Fault } from '../../components/fault.tsx';
import { Status } from '../../components/status.tsx';
import { Cell, HeadCell, Row, Table } from '../../components/table.tsx';
import { formatDuration, Time } from '../../components/time.tsx';
import { useLive } from '../../live/live.ts';
import { useThrottled } from '../../live/use-throttled.ts';
import { assistantsQuery } from '../../platform/assistants.ts';
import { shadowsQuery } from '../../platform/replay.ts';
import type { RunPlace } from '../../platform/runs.ts';
import { shortId } from '../run/run-summary.tsx';

/** The shadows of a run, as the journal has them. Those whose thread was deleted are in it too. */
export function ShadowList({ place }: { place: RunPlace }) {
  const shadows = useQuery(shadowsQuery(place.workspaceId, place.runId));
  const readSoon = useThrottled(() => void shadows.refetch());
  useLive({ kind: 'runs', workspaceId: place.workspaceId }, ({ event }) => event === 'runs_changed' && readSoon());
  if (shadows.data?.length === 0) return null;
  return (
    <section aria-labelledby="shadows" className="flex min-w-0 flex-col gap-2">
      <h2 id="shadows" className="text-base font-semibold">
        Shadows of this run
      </h2>
      <Fault error={shadows.error} onRetry={() => void shadows.refetch()} />
      {shadows.data && (
        <Table caption="Shadows of this run" columns={['Shadow', 'Status', 'Assistant', 'Duration', 'Created']}>
          {shadows.data.map((shadow) => (
            <ShadowRow key={shadow.run_id} {...{ place, shadow }} />
          ))}
        </Table>
      )}
    </section>
  );
}

function ShadowRow({ place, shadow }: { place: RunPlace; shadow: JournalRun }) {
  const { deployment_id: deployment, thread_id: thread, run_id: run, assistant_id: assistantId } = shadow;
  const { data: assistants } = useQuery(assistantsQuery(place.workspaceId, deployment));
  const assistant = assistants?.find(({ assistant_id: id }) => id === assistantId);
  return (
    <Row>
      <HeadCell>
        <Link
          to="/w/$workspaceId/deployments/$deploymentId/threads/$threadId/runs/$runId/replay"
          params={place}
          search={{ thread, run, ...(deployment !== place.deploymentId && { deployment }) }}
        >
          Compare <code className="text-xs">{shortId(run)}</code>
        </Link>
      </HeadCell>
      <Cell label="Status">
        <Status status={shadow.status} />
      </Cell>
      <Cell label="Assistant">{assistant?.name ?? shortId(assistantId)}</Cell>
      <Cell label="Duration">{formatDuration(shadow.duration_ms)}</Cell>
      <Cell label="Created">
        <Time at={shadow.created_at} />
      </Cell>
    </Row>
  );
}
