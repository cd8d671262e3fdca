import type { DeploymentPatch } from '@runyard/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, missingPermission } from '../../../components/button.tsx';
import { Confirm } from '../../../components/dialog.tsx';
import { deploymentQuery, patchDeployment } from '../../../platform/deployments.ts';
import { revisionsQuery } from '../../../platform/revisions.ts';
import { useWorkspace } from '../../../session/session.ts';

export interface SaveBarProps {
  deploymentId: string;
  /** The changes to send; undefined if there are none. */
  patch: DeploymentPatch | undefined;
  /** The sentence that says why it cannot be saved as it is. */
  fault?: string | undefined;
  onSaved: () => void;
}

/** Saves a change that makes a new revision, which it says first, and leads to the roll-out. */
export function SaveBar({ deploymentId, patch, fault, onSaved }: SaveBarProps) {
  const workspace = useWorkspace();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isOpen, setIsOpen] = useState(false);
  const save = async () => {
    const changed = await patchDeployment(workspace.id, deploymentId, patch!);
    client.setQueryData(deploymentQuery(workspace.id, deploymentId).queryKey, changed);
    void client.invalidateQueries({ queryKey: revisionsQuery(workspace.id, deploymentId).queryKey });
    onSaved();
    const revisionId = changed.latest_revision_id;
    if (revisionId === null) return;
    const params = { workspaceId: workspace.id, deploymentId, revisionId };
    await navigate({ to: '/w/$workspaceId/deployments/$deploymentId/revisions/$revisionId', params });
  };
  const unavailable =
    missingPermission(workspace.may('deployments:update'), 'deployments:update') ??
    (patch === undefined ? 'Nothing was changed' : fault);
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Button look="first" unavailable={unavailable} onClick={() => setIsOpen(true)}>
        Save and roll out …
      </Button>
      {patch !== undefined && <Button onClick={onSaved}>Discard changes</Button>}
      <p className="text-xs text-faint">Saving makes a new revision.</p>
      <Confirm
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
        title="Roll the change out?"
        description="It makes a new revision. What serves goes on until the new one is healthy, and stays if it never is."
        action="Roll out"
        onConfirm={save}
      />
    </div>
  );
}
