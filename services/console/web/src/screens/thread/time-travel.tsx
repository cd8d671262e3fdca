import type { ThreadState } from '@runyard/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import type { ThreadPlace } from '../../platform/threads.ts';
import { useWorkspace } from '../../session/session.ts';
import { EditStateDialog } from './edit-state-dialog.tsx';
import { RunAgainDialog } from './run-again-dialog.tsx';
import { channelsOf } from './state-update.ts';

interface TimeTravelProps {
  place: ThreadPlace;
  state: ThreadState;
  /** True while the state of another checkpoint is on its way. */
  isStale: boolean;
}

type Step = { do: 'edit' | 'run'; state: ThreadState; note?: string };

/** The ways to go on from a checkpoint otherwise than the thread did. */
export function TimeTravel({ place, state, isStale }: TimeTravelProps) {
  const workspace = useWorkspace();
  const navigate = useNavigate({ from: '/w/$workspaceId/deployments/$deploymentId/threads/$threadId' });
  const queryClient = useQueryClient();
  const [step, setStep] = useState<Step>();
  const { workspaceId, deploymentId, threadId } = place;
  const unavailable = isStale ? 'The state is being read' : undefined;
  const showFork = (forked: ThreadState) => {
    void queryClient.invalidateQueries({ queryKey: ['thread-history', workspaceId, deploymentId, threadId] });
    const ns = forked.checkpoint?.checkpoint_ns ?? '';
    const checkpoint = forked.checkpoint_id ?? undefined;
    void navigate({ to: '.', search: { ...(ns !== '' && { ns }), ...(checkpoint && { checkpoint }) } });
    setStep({ do: 'run', state: forked, note: 'The new checkpoint was written.' });
  };
  return (
    <div className="flex flex-wrap gap-2">
      <Button
        size="small"
        unavailable={missingPermission(workspace.may('runs:create'), 'runs:create') ?? unavailable}
        onClick={() => setStep({ do: 'run', state })}
      >
        Run again from here
      </Button>
      <Button
        size="small"
        unavailable={
          missingPermission(workspace.may('runs:update'), 'runs:update') ??
          (channelsOf(state.values) ? undefined : 'This state has no channels to edit') ??
          unavailable
        }
        onClick={() => setStep({ do: 'edit', state })}
      >
        Edit and fork
      </Button>
      <RunAgainDialog
        place={place}
        state={step?.do === 'run' ? step.state : undefined}
        note={step?.note}
        onClose={() => setStep(undefined)}
      />
      <EditStateDialog
        place={place}
        state={step?.do === 'edit' ? step.state : undefined}
        onForked={showFork}
        onClose={() => setStep(undefined)}
      />
    </div>
  );
}
