import type { Cron } from '@runyard/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { type CronsPlace, patchCron } from '../../platform/crons.ts';
import { type CronDraft, draftOf, isUndecryptable, patchOf } from './cron-draft.ts';
import { CronForm } from './cron-form.tsx';

interface EditCronProps {
  place: CronsPlace;
  cron: Cron;
  onClose(): void;
  /** Called with a sentence once it is changed. */
  onDone(sentence: string): void;
}

/** Changes a cron. Only what differs is sent. */
export function EditCron(props: EditCronProps) {
  return (
    <Dialog
      isOpen
      onClose={props.onClose}
      title={`Edit the cron ${props.cron.schedule}`}
      description={
        isUndecryptable(props.cron)
          ? 'Its input, webhook and further fields cannot be decrypted at the moment: they stay as they are where you leave them empty.'
          : 'Its assistant and its thread stay as they are.'
      }
    >
      <Form {...props} />
    </Dialog>
  );
}

function Form({ place, cron, onClose, onDone }: EditCronProps) {
  const client = useQueryClient();
  // The list may be read again while somebody writes.
  const [edited] = useState(cron);
  const [start] = useState(() => draftOf(cron));
  const save = async (draft: CronDraft) => {
    const patch = patchOf(edited, draft);
    if (!patch) throw new Error('Nothing differs from the cron as it is');
    const { schedule } = await patchCron(place, edited.cron_id, patch);
    await client.invalidateQueries({ queryKey: ['crons', place.workspaceId, place.deploymentId] });
    onDone(`The cron ${schedule} was changed`);
    onClose();
  };
  return (
    <CronForm
      place={place}
      start={start}
      cron={edited}
      assistants={[]}
      action="Save"
      onCancel={onClose}
      onSave={save}
    />
  );
}
