import type { Assistant } from '@runyard/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { Dialog } from '../../components/dialog.tsx';
import { useRequest } from '../../components/use-action.ts';
import { type CronsPlace, createCron } from '../../platform/crons.ts';
import { type CronDraft, creationOf, emptyDraft } from './cron-draft.ts';
import { CronForm } from './cron-form.tsx';

interface CreateCronProps {
  isOpen: boolean;
  onClose(): void;
  place: CronsPlace;
  assistants: readonly Assistant[];
  /** Called with a sentence once it is made. */
  onDone(sentence: string): void;
}

/** Makes a cron. */
export function CreateCron({ isOpen, onClose, ...rest }: CreateCronProps) {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="New cron" description="It makes runs at the times of a schedule.">
      <Form {...rest} onClose={onClose} />
    </Dialog>
  );
}

function Form({ place, assistants, onDone, onClose }: Omit<CreateCronProps, 'isOpen'>) {
  const client = useQueryClient();
  const requestFor = useRequest<ReturnType<typeof creationOf>>();
  const save = async (draft: CronDraft) => {
    const { body: request, key } = requestFor(draft, () => creationOf(draft));
    const { schedule } = await createCron(place, request.threadId, request.body, key);
    await client.invalidateQueries({ queryKey: ['crons', place.workspaceId, place.deploymentId] });
    onDone(`The cron ${schedule} was made`);
    onClose();
  };
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return (
    <CronForm
      place={place}
      start={emptyDraft(assistants[0]?.assistant_id ?? '', timeZone)}
      assistants={assistants}
      action="Create"
      onCancel={onClose}
      onSave={save}
    />
  );
}
