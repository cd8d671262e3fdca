import type { Assistant } from '@runyard/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { type AssistantPlace, graphNamesQuery, patchAssistant } from '../../platform/assistants.ts';
import { useWorkspace } from '../../session/session.ts';
import { AssistantForm } from '../assistants/assistant-form.tsx';
import { nameOf } from '../assistants/assistant-name.ts';
import { type AssistantDraft, draftOf, keptKeys, patchOf } from '../assistants/assistant-request.ts';
import { useAssistantChange } from './use-assistant-change.ts';

/** Changes an assistant. What it was stays as a version. */
export function EditAssistant({ place, assistant }: { place: AssistantPlace; assistant: Assistant }) {
  const workspace = useWorkspace();
  const [isOpen, setIsOpen] = useState(false);
  const close = () => setIsOpen(false);
  return (
    <>
      <Button
        unavailable={missingPermission(workspace.may('runs:update'), 'runs:update')}
        onClick={() => setIsOpen(true)}
      >
        Edit …
      </Button>
      <Dialog
        isOpen={isOpen}
        onClose={close}
        title={`Edit ${nameOf(assistant)}`}
        description="This makes a new version, which runs use from then on. The versions before stay."
      >
        <Form {...{ place, assistant }} onClose={close} />
      </Dialog>
    </>
  );
}

function Form({ place, assistant, onClose }: { place: AssistantPlace; assistant: Assistant; onClose(): void }) {
  const graphs = useQuery(graphNamesQuery(place.workspaceId, place.deploymentId));
  const readAgain = useAssistantChange(place);
  // The assistant may be changed by others while somebody writes.
  const [edited] = useState(assistant);
  const save = async (draft: AssistantDraft) => {
    const patch = patchOf(edited, draft);
    if (!patch) throw new Error('Nothing differs from the current version');
    const kept = keptKeys(edited, draft);
    if (kept.length > 0) throw new Error(`Keys of the metadata cannot be taken away: ${kept.join(', ')}`);
    await patchAssistant(place, patch);
    await readAgain();
    onClose();
  };
  return (
    <AssistantForm
      place={place}
      start={draftOf(edited)}
      graphs={graphs.data ?? []}
      action="Save as a new version"
      metadataHint="Keys can be added and changed; none can be taken away"
      onCancel={onClose}
      onSave={save}
    />
  );
}
