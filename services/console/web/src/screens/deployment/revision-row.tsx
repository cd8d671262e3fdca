import type { Deployment, Revision } from '@runyard/contracts';
import { Link } from '@tanstack/react-router';
import { Status } from '../../components/status.tsx';
import { Cell, HeadCell, Row } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { isActive } from '../../platform/revisions.ts';
import { ActiveMark } from './active-mark.tsx';
import { RevisionActions } from './revision-actions.tsx';
import { sourceText } from './revision-source.ts';

/** A revision as a row: which, how it is, and what can be done with it. */
export function RevisionRow({ deployment, revision }: { deployment: Deployment; revision: Revision }) {
  const { id: revisionId, status, status_message: message, created_at: madeAt, updated_at: changedAt } = revision;
  return (
    <Row>
      <HeadCell>
        <Link
          to="/w/$workspaceId/deployments/$deploymentId/revisions/$revisionId"
          params={{ workspaceId: deployment.tenant_id, deploymentId: deployment.id, revisionId }}
          aria-label={`Revision ${revisionId.slice(-8)}`}
          className="font-mono text-xs"
        >
          {revisionId.slice(-8)}
        </Link>
        {isActive(deployment, revision) && <ActiveMark />}
      </HeadCell>
      <Cell label="Status">
        <Status status={status} />
        {message !== null && <p className="line-clamp-2 max-w-prose text-xs break-words text-faint">{message}</p>}
      </Cell>
      <Cell label="Source">
        <span className="text-xs break-all">{sourceText(revision)}</span>
      </Cell>
      <Cell label="Made">
        <Time at={madeAt} />
      </Cell>
      <Cell label="Changed">
        <Time at={changedAt} />
      </Cell>
      <Cell>
        <RevisionActions deployment={deployment} revision={revision} size="small" />
      </Cell>
    </Row>
  );
}
