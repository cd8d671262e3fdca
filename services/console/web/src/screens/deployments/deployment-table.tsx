import type { Deployment } from '@runyard/contracts';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { addressesOf } from '../../platform/deployments.ts';
import { useWorkspace } from '../../session/session.ts';
import { nameOf } from './deployment-list.ts';
import { Halted } from './halted.tsx';

/** Rows that are shown before somebody asks for more: each asks whether its deployment is halted. */
const ROWS = 100;
const COLUMNS = ['Name', 'Status', 'Active revision', 'Agent server', 'Updated', 'Address'] as const;

/** Deployments as a table, and one below the other where the window is narrow. */
export function DeploymentTable({ deployments }: { deployments: readonly Deployment[] }) {
  const [rows, setRows] = useState(ROWS);
  return (
    <>
      <div className="overflow-x-auto rounded border border-line bg-card">
        <table className="w-full text-left max-md:block">
          <caption className="sr-only">Deployments by name</caption>
          <thead className="text-xs text-faint max-md:sr-only">
            <tr className="border-b border-line">
              {COLUMNS.map((title) => (
                <th key={title} scope="col" className="px-3 py-2 font-semibold">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="max-md:block">
            {deployments.slice(0, rows).map((deployment) => (
              <Row key={deployment.id} deployment={deployment} />
            ))}
          </tbody>
        </table>
      </div>
      {deployments.length > rows && (
        <Button className="self-start" onClick={() => setRows(rows + ROWS)}>
          Show {Math.min(ROWS, deployments.length - rows)} more of {deployments.length}
        </Button>
      )}
    </>
  );
}

const CELL = 'px-3 py-2 align-baseline max-md:block max-md:py-0.5';

/** A cell that says what it is where the window has no room for the head of the table. */
function Cell({ label, children }: { label: string; children: ReactNode }) {
  return (
    <td className={CELL}>
      <span aria-hidden="true" className="mr-2 text-xs text-faint md:hidden">
        {label}
      </span>
      {children}
    </td>
  );
}

function Row({ deployment }: { deployment: Deployment }) {
  const { id: workspaceId } = useWorkspace();
  const { id: deploymentId, name, display_name: displayName, active_revision_id: revisionId } = deployment;
  const params = { workspaceId, deploymentId };
  return (
    <tr className="border-b border-line last:border-0 max-md:block max-md:py-2">
      <th scope="row" className={`${CELL} font-medium`}>
        <Link to="/w/$workspaceId/deployments/$deploymentId" params={params}>
          {nameOf(deployment)}
        </Link>
        {displayName !== null && displayName !== name && <span className="block text-xs text-faint">{name}</span>}
      </th>
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
    </tr>
  );
}
