import type { Deployment, Revision } from '@runyard/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, type ButtonProps, missingPermission } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { deploymentQuery } from '../../platform/deployments.ts';
import {
  interruptRevision,
  isActive,
  isUnderWay,
  redeployRevision,
  revisionQuery,
  revisionsQuery,
} from '../../platform/revisions.ts';
import { useWorkspace } from '../../session/session.ts';

/** Shows the actions that the status of a revision allows: to end it, to go back to it, or to repeat it. */
export function RevisionActions({
  deployment,
  revision,
  size = 'usual',
}: { deployment: Deployment; revision: Revision } & Pick<ButtonProps, 'size'>) {
  const workspace = useWorkspace();
  const unavailable = missingPermission(workspace.may('deployments:update'), 'deployments:update');
  if (isUnderWay(revision)) return <Interrupt {...{ deployment, revision, size, unavailable }} />;
  return <Redeploy {...{ deployment, revision, size, unavailable }} />;
}

type ActionProps = { deployment: Deployment; revision: Revision } & Pick<ButtonProps, 'size' | 'unavailable'>;

/** Goes back to a revision that served once, or repeats one: both make a new revision of it. */
function Redeploy({ deployment, revision, ...button }: ActionProps) {
  const { id: workspaceId } = useWorkspace();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isOpen, setIsOpen] = useState(false);
  const isBack = revision.status === 'DEPLOYED' && !isActive(deployment, revision);
  const redeploy = async () => {
    const changed = await redeployRevision(workspaceId, deployment.id, revision.id);
    client.setQueryData(deploymentQuery(workspaceId, deployment.id).queryKey, changed);
    void client.invalidateQueries({ queryKey: revisionsQuery(workspaceId, deployment.id).queryKey });
    const revisionId = changed.latest_revision_id;
    if (revisionId === null) return;
    const params = { workspaceId, deploymentId: deployment.id, revisionId };
    await navigate({ to: '/w/$workspaceId/deployments/$deploymentId/revisions/$revisionId', params });
  };
  return (
    <>
      <Button {...button} onClick={() => setIsOpen(true)}>
        {isBack ? 'Roll back to this …' : 'Deploy again …'}
      </Button>
      <Confirm
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
        title={`${isBack ? 'Roll back to' : 'Deploy again'} ${revision.id.slice(-8)}?`}
        description="It makes a new revision with the configuration of this one, its secrets included. What serves goes on until the new one is healthy."
        action={isBack ? 'Roll back' : 'Deploy again'}
        onConfirm={redeploy}
      />
    </>
  );
}

function Interrupt({ deployment, revision, ...button }: ActionProps) {
  const { id: workspaceId } = useWorkspace();
  const client = useQueryClient();
  const [isOpen, setIsOpen] = useState(false);
  const interrupt = async () => {
    const changed = await interruptRevision(workspaceId, deployment.id, revision.id);
    client.setQueryData(revisionQuery(workspaceId, deployment.id, revision.id).queryKey, changed);
    void client.invalidateQueries({ queryKey: revisionsQuery(workspaceId, deployment.id).queryKey });
    void client.invalidateQueries({ queryKey: deploymentQuery(workspaceId, deployment.id).queryKey });
  };
  return (
    <>
      <Button {...button} onClick={() => setIsOpen(true)}>
        Interrupt …
      </Button>
      <Confirm
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
        title="Interrupt this roll-out?"
        description="Its build or start is stopped. What serves goes on."
        action="Interrupt"
        isDangerous
        onConfirm={interrupt}
      />
    </>
  );
}
