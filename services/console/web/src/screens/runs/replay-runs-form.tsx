import type { JournalRun } from '@runyard/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { SelectField } from '../../components/field.tsx';
import { assistantsQuery } from '../../platform/assistants.ts';
import { useWorkspace } from '../../session/session.ts';
import { assistantOptions } from '../replay/assistant-options.ts';
import { ReplayOutcomes } from './replay-outcomes.tsx';
import { useBulkReplay } from './use-bulk-replay.ts';

/** The assistant of each run itself. */
const OWN = '';

interface ReplayRunsFormProps {
  /** Runs of one deployment. */
  runs: readonly JournalRun[];
  onClose(): void;
}

/** The choice of an assistant for the shadows of several runs, and then what becomes of each. */
export function ReplayRunsForm({ runs, onClose }: ReplayRunsFormProps) {
  const { id: workspaceId } = useWorkspace();
  const [chosen, setChosen] = useState(OWN);
  const assistants = useQuery(assistantsQuery(workspaceId, runs[0]!.deployment_id));
  const { start, stop, isStopped, isWorking, outcomes, batch } = useBulkReplay(workspaceId, runs);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!outcomes) start(chosen === OWN ? undefined : chosen);
  };
  const options = [
    { value: OWN, label: 'The one of each run' },
    ...assistantOptions(assistants.data ?? [], { graph: runs[0]!.graph_id ?? '', ofRun: '' }),
  ];
  return (
    <form onSubmit={submit} className="flex min-w-0 flex-col gap-3">
      {outcomes ? (
        <ReplayOutcomes {...{ workspaceId, runs, outcomes }} />
      ) : (
        <>
          <SelectField
            label="Assistant"
            value={chosen}
            options={options}
            onChange={({ target }) => setChosen(target.value)}
          />
          <Fault error={assistants.error} onRetry={() => void assistants.refetch()} />
        </>
      )}
      <div className="flex flex-wrap items-center justify-end gap-2">
        {outcomes && !isWorking && (
          <Link
            to="/w/$workspaceId/runs"
            params={{ workspaceId }}
            search={{ metadata: `replay_batch=${batch}` }}
            onClick={onClose}
            className="mr-auto"
          >
            Show the shadows in the list
          </Link>
        )}
        {isWorking ? (
          <Button onClick={stop} unavailable={isStopped ? 'No further run is begun' : undefined}>
            Stop
          </Button>
        ) : (
          <Button onClick={onClose}>{outcomes ? 'Close' : 'Cancel'}</Button>
        )}
        {!outcomes && (
          <Button type="submit" look="first">
            Replay
          </Button>
        )}
      </div>
    </form>
  );
}
