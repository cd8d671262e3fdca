import type { Cron } from '@runyard/contracts';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { ActionCell, Cell, HeadCell, Row } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import type { CronsPlace } from '../../platform/crons.ts';
import { isUuid } from '../../platform/uuid.ts';
import { useWorkspace } from '../../session/session.ts';
import { formatInZone } from './zone-time.ts';

interface CronRowProps {
  place: CronsPlace;
  cron: Cron;
  assistantName: string;
  /** True while it is being paused or resumed. */
  isChanging: boolean;
  onEdit(): void;
  onSwitch(): void;
  onDelete(): void;
}

export const CRON_COLUMNS = ['Schedule', 'Assistant', 'Thread', 'Next run', 'End', 'Runs', 'Created', 'Actions'];

/** A cron, and what can be done with it. */
export function CronRow({ place, cron, assistantName, isChanging, onEdit, onSwitch, onDelete }: CronRowProps) {
  const { workspaceId, deploymentId } = place;
  const { may } = useWorkspace();
  const mayChange = missingPermission(may('runs:update'), 'runs:update');
  const { schedule, timezone, thread_id: threadId, enabled } = cron;
  return (
    <Row>
      <HeadCell>
        <code>{schedule}</code>
        <span className="block text-xs font-normal text-faint">{timezone}</span>
      </HeadCell>
      <Cell label="Assistant">
        <Link
          to="/w/$workspaceId/deployments/$deploymentId/assistants/$assistantId"
          params={{ workspaceId, deploymentId, assistantId: cron.assistant_id }}
          search={{}}
        >
          {assistantName}
        </Link>
      </Cell>
      <Cell label="Thread">
        {threadId === null ? (
          <ThreadEachTime isKept={cron.on_run_completed === 'keep'} />
        ) : (
          <Link
            to="/w/$workspaceId/deployments/$deploymentId/threads/$threadId"
            params={{ workspaceId, deploymentId, threadId }}
            search={{}}
          >
            …{threadId.slice(-8)}
          </Link>
        )}
      </Cell>
      <Cell label="Next run">
        {!enabled ? (
          <span className="text-faint">○ paused</span>
        ) : cron.next_run_date === null ? (
          <span className="text-faint">none any more</span>
        ) : (
          <Moment at={cron.next_run_date} zone={timezone} />
        )}
      </Cell>
      <Cell label="End">
        {cron.end_time === null ? (
          <span className="text-faint">never</span>
        ) : (
          <Moment at={cron.end_time} zone={timezone} />
        )}
      </Cell>
      <Cell label="Runs">
        <Link
          to="/w/$workspaceId/runs"
          params={{ workspaceId }}
          search={{ metadata: `cron_id=${cron.cron_id}` }}
          aria-label={`Runs of the cron ${schedule}`}
          className="whitespace-nowrap"
        >
          Runs
        </Link>
      </Cell>
      <Cell label="Created">
        <Time at={cron.created_at} />
        {cron.user_id && (
          <span title={cron.user_id} className="block text-xs text-faint">
            by {isUuid(cron.user_id) ? `…${cron.user_id.slice(-8)}` : cron.user_id}
          </span>
        )}
      </Cell>
      <ActionCell>
        <RowButton schedule={schedule} verb="Edit" unavailable={mayChange} onClick={onEdit}>
          Edit …
        </RowButton>
        <RowButton
          schedule={schedule}
          verb={enabled ? 'Pause' : 'Resume'}
          unavailable={mayChange ?? (isChanging ? 'It is being changed' : undefined)}
          onClick={onSwitch}
        />
        <RowButton
          schedule={schedule}
          verb="Delete"
          unavailable={missingPermission(may('runs:delete'), 'runs:delete')}
          onClick={onDelete}
        >
          Delete …
        </RowButton>
      </ActionCell>
    </Row>
  );
}

function ThreadEachTime({ isKept }: { isKept: boolean }) {
  return (
    <>
      a new one each time
      <span className="block text-xs text-faint">{isKept ? 'kept' : 'deleted'} when the run has ended</span>
    </>
  );
}

/** A moment from now, and as the clocks of the zone of the schedule show it. */
function Moment({ at, zone }: { at: string; zone: string }) {
  return (
    <>
      <Time at={at} />
      <span className="block text-xs text-faint">{formatInZone(at, zone)}</span>
    </>
  );
}

interface RowButtonProps {
  schedule: string;
  verb: string;
  unavailable: string | undefined;
  onClick(): void;
  children?: ReactNode;
}

function RowButton({ schedule, verb, unavailable, onClick, children = verb }: RowButtonProps) {
  return (
    <Button size="small" aria-label={`${verb} the cron ${schedule}`} unavailable={unavailable} onClick={onClick}>
      {children}
    </Button>
  );
}
