import type { JournalRun } from '@runyard/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Dialog } from 'radix-ui';
import { useState } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { faultText } from '../../components/fault.tsx';
import { cancelRuns, isActive } from '../../platform/runs.ts';
import { useWorkspace } from '../../session/session.ts';
import { shortId } from '../run/run-summary.tsx';

/** Cancels the chosen runs that go on, once somebody has confirmed it, and says what came of each. */
export function CancelRuns({ runs, onDone }: { runs: readonly JournalRun[]; onDone: () => void }) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const [isOpen, setIsOpen] = useState(false);
  const [asked, setAsked] = useState<readonly JournalRun[]>([]);
  const { mutate, reset, isPending, data } = useMutation({
    mutationFn: (runs: readonly JournalRun[]) => cancelRuns(workspace.id, runs),
    onSuccess: () => {
      onDone();
      void queryClient.invalidateQueries({ queryKey: ['runs', workspace.id] });
    },
  });
  const active = runs.filter(({ status }) => isActive(status));
  const open = () => {
    reset();
    setAsked(active);
    setIsOpen(true);
  };
  return (
    <Dialog.Root open={isOpen} onOpenChange={setIsOpen}>
      <Button
        look="danger"
        size="small"
        onClick={open}
        unavailable={
          missingPermission(workspace.may('runs:update'), 'runs:update') ??
          (active.length === 0 ? 'None of the selected runs is pending or running' : undefined)
        }
      >
        {active.length === 0 ? 'Cancel runs …' : `Cancel ${active.length} ${active.length === 1 ? 'run' : 'runs'} …`}
      </Button>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Content className="fixed top-[15vh] left-1/2 z-50 flex max-h-[70vh] w-[min(32rem,94vw)] -translate-x-1/2 flex-col gap-3 overflow-auto rounded border border-line bg-card p-4 shadow-lg">
          <Dialog.Title className="text-lg font-semibold">
            {data ? 'What came of it' : `Cancel ${asked.length} ${asked.length === 1 ? 'run' : 'runs'}?`}
          </Dialog.Title>
          <Dialog.Description className={data ? 'sr-only' : ''}>
            {data
              ? 'The runs whose cancellation is under way'
              : 'They stop as soon as they can, and keep their checkpoints.'}
          </Dialog.Description>
          {data && (
            <div role="status">
              <p>
                {data.cancelled} {data.cancelled === 1 ? 'run is' : 'runs are'} being cancelled
                {data.failures.length > 0 && `, ${data.failures.length} could not be`}.
              </p>
              <ul className="mt-2 text-fault">
                {data.failures.map(({ run, error }) => (
                  <li key={run.run_id} className="break-words">
                    Run {shortId(run.run_id)}: {faultText(error)}
                  </li>
                ))}
              </ul>
            </div>
          )}
          <div className="flex justify-end gap-2">
            <Dialog.Close asChild>
              <Button>{data ? 'Close' : 'Keep them'}</Button>
            </Dialog.Close>
            {!data && (
              <Button
                look="danger"
                onClick={() => mutate(asked)}
                unavailable={isPending ? 'The runs are being cancelled' : undefined}
              >
                Cancel them
              </Button>
            )}
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
