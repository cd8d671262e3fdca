import type { Assistant, ThreadState } from '@runyard/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { Fault } from '../../components/fault.tsx';
import { SelectField } from '../../components/field.tsx';
import { Loading } from '../../components/loading.tsx';
import { assistantSchemasQuery, assistantsQuery } from '../../platform/assistants.ts';
import { type ThreadPlace, threadQuery } from '../../platform/threads.ts';
import { kindOf, namespacesTo, nodeOf } from './namespace.ts';
import { RunAgainForm } from './run-again-form.tsx';
import { assistantFor, assistantsOf } from './run-request.ts';

export interface RunAgainProps {
  place: ThreadPlace;
  /** The checkpoint that the run starts from; undefined: the dialog is closed. */
  state: ThreadState | undefined;
  /** A sentence about how the checkpoint came to be. */
  note?: string | undefined;
  onClose(): void;
}

/** Makes a run from a checkpoint, and leads to it. */
export function RunAgainDialog({ place, state, note, onClose }: RunAgainProps) {
  return (
    <Dialog
      isOpen={state !== undefined}
      onClose={onClose}
      title="Run again from here"
      description={
        state && (
          <>
            {note && <p>{note}</p>}
            <p>{explainStart(state)}</p>
          </>
        )
      }
    >
      {state && <Content place={place} state={state} onClose={onClose} />}
    </Dialog>
  );
}

function Content({ place, state, onClose }: { place: ThreadPlace; state: ThreadState; onClose(): void }) {
  const { workspaceId, deploymentId } = place;
  const all = useQuery(assistantsQuery(workspaceId, deploymentId));
  const thread = useQuery(threadQuery(place));
  const [chosen, setChosen] = useState<string>();
  const assistants = assistantsOf(all.data ?? [], state, thread.data);
  const assistant =
    assistants.find(({ assistant_id: id }) => id === chosen) ?? assistantFor(assistants, state, thread.data);
  const error = all.error ?? thread.error;
  if (error) return <Fault error={error} onRetry={() => void Promise.all([all.refetch(), thread.refetch()])} />;
  if (all.isPending || thread.isPending) return <Loading what="the assistants" />;
  if (!assistant) return <Fault error="The deployment has no assistant of this graph any more." />;
  return (
    <>
      <SelectField
        label="Assistant"
        value={assistant.assistant_id}
        options={assistants.map(({ assistant_id: value, name }) => ({ value, label: name }))}
        onChange={({ target }) => setChosen(target.value)}
      />
      <WithSchemas {...{ place, state, assistant, onClose }} isBusy={thread.data?.status === 'busy'} />
    </>
  );
}

function WithSchemas(props: {
  place: ThreadPlace;
  state: ThreadState;
  assistant: Assistant;
  isBusy: boolean;
  onClose(): void;
}) {
  const { place, assistant } = props;
  const schemas = useQuery(assistantSchemasQuery({ ...place, assistantId: assistant.assistant_id }));
  if (schemas.error) return <Fault error={schemas.error} onRetry={() => void schemas.refetch()} />;
  if (schemas.isPending) return <Loading what="the schemas" />;
  return <RunAgainForm key={assistant.assistant_id} {...props} schemas={schemas.data} />;
}

/** Says what a run from a checkpoint begins with, and what becomes of the branch that there is. */
function explainStart({ checkpoint }: ThreadState): string {
  const namespace = checkpoint?.checkpoint_ns ?? '';
  if (kindOf(namespace) !== 'step')
    return 'The run starts from this checkpoint, on a branch of its own. What follows it now stays as it is.';
  const [step, ...within] = namespacesTo(namespace).slice(1).map(nodeOf);
  return (
    `The run starts from this checkpoint within ${[step, ...within].join(' › ')}. For that, the checkpoint before ${step} ` +
    'is copied and this state is written into the copy, unless the thread stands here already. What follows it now stays ' +
    'as it is.'
  );
}
