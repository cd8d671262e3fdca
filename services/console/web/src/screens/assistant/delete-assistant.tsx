import type { Assistant } from '@runyard/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { CheckField } from '../../components/field.tsx';
import { type AssistantPlace, deleteAssistant, isOfSystem } from '../../platform/assistants.ts';
import { useWorkspace } from '../../session/session.ts';
import { nameOf } from '../assistants/assistant-name.ts';

/** Deletes an assistant, with its threads where that is wanted. Those that the platform made stay. */
export function DeleteAssistant({ place, assistant }: { place: AssistantPlace; assistant: Assistant }) {
  const { workspaceId, deploymentId } = place;
  const workspace = useWorkspace();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isOpen, setIsOpen] = useState(false);
  const [withThreads, setWithThreads] = useState(false);
  const remove = async () => {
    await deleteAssistant(place, withThreads);
    await navigate({
      to: '/w/$workspaceId/deployments/$deploymentId/assistants',
      params: { workspaceId, deploymentId },
      search: {},
    });
    void client.invalidateQueries({ queryKey: ['assistants', workspaceId, deploymentId] });
  };
  return (
    <>
      <Button
        look="danger"
        unavailable={
          isOfSystem(assistant)
            ? 'The platform made this assistant for its graph: it stays for as long as the graph does'
            : missingPermission(workspace.may('runs:delete'), 'runs:delete')
        }
        onClick={() => setIsOpen(true)}
      >
        Delete …
      </Button>
      <Confirm
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
        title={`Delete ${nameOf(assistant)}?`}
        description="Its versions and crons go with it, and its runs in flight are cancelled."
        action="Delete"
        isDangerous
        onConfirm={remove}
      >
        <CheckField
          label="Delete its threads too"
          hint="With all their runs and checkpoints. That cannot be undone."
          isChecked={withThreads}
          onChange={setWithThreads}
        />
      </Confirm>
    </>
  );
}
