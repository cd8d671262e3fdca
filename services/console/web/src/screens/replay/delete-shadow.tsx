import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { deploymentRunQuery, type RunPlace } from '../../platform/runs.ts';
import { deleteThread } from '../../platform/threads.ts';
import { useWorkspace } from '../../session/session.ts';

/** Deletes a shadow with its thread. An address may name any thread: only that of a shadow is deleted. */
export function DeleteShadow({ place, shadow }: { place: RunPlace; shadow: RunPlace }) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [isOpen, setIsOpen] = useState(false);
  const { data: run } = useQuery(deploymentRunQuery(shadow));
  const isShadow = shadow.threadId !== place.threadId && run?.metadata.replay_of === place.runId;
  const remove = async () => {
    await deleteThread(shadow);
    void queryClient.invalidateQueries({ queryKey: ['runs', place.workspaceId] });
    await navigate({
      to: '/w/$workspaceId/deployments/$deploymentId/threads/$threadId/runs/$runId/replay',
      params: place,
      search: {},
      replace: true,
    });
    queryClient.removeQueries({ queryKey: ['run', place.workspaceId, shadow.runId] });
  };
  return (
    <>
      <Button
        look="danger"
        onClick={() => setIsOpen(true)}
        unavailable={
          missingPermission(workspace.may('runs:delete'), 'runs:delete') ??
          (isShadow ? undefined : 'There is no shadow to delete')
        }
      >
        Delete the shadow …
      </Button>
      <Confirm
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
        title="Delete the shadow?"
        description="Its thread goes with its checkpoints and runs. The original stays as it is."
        action="Delete"
        isDangerous
        onConfirm={remove}
      />
    </>
  );
}
