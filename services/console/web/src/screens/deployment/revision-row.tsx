import type { Deployment, Revision } from '@runyard/contracts';
import { Link } from '@tanstack/react-router';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { isActive } from '../../platform/revisions.ts';
import { ActiveMark } from './active-mark.tsx';
import { RevisionActions } from './revision-actions.tsx';
import { sourceText } from './revision-source.ts';

const CELL = 'px-3 py-2 align-baseline max-md:block max-md:py-0.5';

/** A revision as a row: which, how it is, and what can be done with it. */
export function RevisionRow({ deployment, revision }: { deployment: Deployment; revision: Revision }) {
  const { id: revisionId, status, status_message: message, created_at: madeAt, updated_at: changedAt } = revision;
  return (
    <tr className="border-b border-line last:border-0 max-md:block max-md:py-2">
      <th scope="row" className={`${CELL} font-normal`}>
        <Link
          to="/w/$workspaceId/deployments/$deploymentId/revisions/$revisionId"
          params={{ workspaceId: deployment.tenant_id, deploymentId: deployment.id, revisionId }}
          aria-label={`Revision ${revisionId.slice(-8)}`}
          className="font-mono text-xs"
        >
          {revisionId.slice(-8)}
        </Link>
        {isActive(deployment, revision) && <ActiveMark />}
      </th>
      <td className={CELL}>
        <Status status={status} />
        {message !== null && <p className="line-clamp-2 max-w-prose text-xs break-words text-faint">{message}</p>}
      </td>
      <td className={`${CELL} text-xs break-all`}>{sourceText(revision)}</td>
      <td className={CELL}>
        <Time at={madeAt} />
      </td>
      <td className={CELL}>
        <Time at={changedAt} />
      </td>
      <td className={CELL}>
        <RevisionActions deployment={deployment} revision={revision} size="small" />
      </td>
    </tr>
  );
}
