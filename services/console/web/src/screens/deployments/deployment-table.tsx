import type { Deployment } from '@runyard/contracts';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Status } from '../../components/status.tsx';
import { Cell, HeadCell, Row, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { addressesOf } from '../../platform/deployments.ts';
import { useWorkspace } from '../../session/session.ts';
import { nameOf } from './deployment-list.ts';
import { Halted } from './halted.tsx';

/** Rows that are shown before somebody asks for more: each asks whether its deployment is halted. */
const ROWS = 100;
const COLUMNS = ['Name', 'Status', 'Active revision', 'Agent server', 'Updated', 'Address'];

/** Deployments as a table, and one below the other where the window is narrow. */
export function DeploymentTable({ deployments }: { deployments: readonly Deployment[] }) {
  const [rows, setRows] = useState(ROWS);
  return (
    <>
      <Table caption="Deployments by name" columns={COLUMNS}>
        {deployments.slice(0, rows).map((deployment) => (
          <DeploymentRow key={deployment.id} deployment={deployment} />
        ))}
      </Table>
      {deployments.length > rows && (
        <Button className="self-start" onClick={() => setRows(rows + ROWS)}>
          Show {Math.min(ROWS, deployments.length - rows)} more of {deployments.length}
        </Button>
      )}
    </>
  );
}

function DeploymentRow({ deployment }: { deployment: Deployment }) {
  const { id: workspaceId } = useWorkspace();
  const { id: deploymentId, name, display_name: displayName, active_revision_id: revisionId } = deployment;
  const params = { workspaceId, deploymentId };
  return (
    <Row>
      <HeadCell>
        <Link to="/w/$workspaceId/deployments/$deploymentId" params={params}>
          {nameOf(deployment)}
        </Link>
        {displayName !== null && displayName !== name && <span className="block text-xs text-faint">{name}</span>}
      </HeadCell>
      <Cell label="Status">
        <span className="inline-flex flex-wrap gap-x-3">
          <Status status={deployment.status} />
          <Halted deploymentId={deploymentId} />
        </span>
      </Cell>
      <Cell label="Active revision">
        {revisionId === null ? (
          <span className="text-faint">none</span>
        ) : (
          <Link
            to="/w/$workspaceId/deployments/$deploymentId/revisions/$revisionId"
            params={{ ...params, revisionId }}
            aria-label={`Active revision ${revisionId.slice(-8)}`}
            className="font-mono text-xs"
          >
            {revisionId.slice(-8)}
          </Link>
        )}
      </Cell>
      <Cell label="Agent server">{deployment.image_version ?? <span className="text-faint">–</span>}</Cell>
      <Cell label="Updated">
        <Time at={deployment.updated_at} />
      </Cell>
      <Cell label="Address">
        <span className="font-mono text-xs break-all">{addressesOf(deployment)[0] ?? '–'}</span>
      </Cell>
    </Row>
  );
}
