import type { Deployment } from '@runyard/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { deleteDeployment, deploymentsQuery } from '../../platform/deployments.ts';
import { useWorkspace } from '../../session/session.ts';

/** Deletes a deployment, once its name was typed. */
export function DeleteDeployment({ deployment }: { deployment: Deployment }) {
  const workspace = useWorkspace();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isOpen, setIsOpen] = useState(false);
  const remove = async () => {
    await deleteDeployment(workspace.id, deployment.id);
    await navigate({ to: '/w/$workspaceId/deployments', params: { workspaceId: workspace.id } });
    void client.invalidateQueries(deploymentsQuery(workspace.id));
  };
  return (
    <>
      <Button
        look="danger"
        unavailable={
          deployment.status === 'AWAITING_DELETE'
            ? 'It is being deleted'
            : missingPermission(workspace.may('deployments:delete'), 'deployments:delete')
        }
        onClick={() => setIsOpen(true)}
      >
        Delete …
      </Button>
      <Confirm
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
        title={`Delete ${deployment.name}?`}
        description="Its database goes with it: all threads, runs, assistants, crons and the store. That cannot be undone."
        typed={deployment.name}
        action="Delete"
        isDangerous
        onConfirm={remove}
      />
    </>
  );
}
