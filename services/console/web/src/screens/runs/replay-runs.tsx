import type { JournalRun } from '@runyard/contracts';
import { useState } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { useWorkspace } from '../../session/session.ts';
import { BULK_MAX } from '../replay/bulk-replay.ts';
import { ReplayRunsForm } from './replay-runs-form.tsx';

/** Makes shadows of the chosen runs, in a dialog that stays until somebody leaves it. */
export function ReplayRuns({ runs }: { runs: readonly JournalRun[] }) {
  const workspace = useWorkspace();
  const [asked, setAsked] = useState<readonly JournalRun[]>();
  const unavailable =
    missingPermission(workspace.may('runs:create'), 'runs:create') ??
    (runs.length === 0 ? 'Select runs first' : undefined) ??
    (runs.length > BULK_MAX ? `At most ${BULK_MAX} runs can be replayed at once` : undefined) ??
    (new Set(runs.map(({ deployment_id: id }) => id)).size > 1 ? 'Select runs of one deployment' : undefined);
  return (
    <>
      <Button size="small" onClick={() => setAsked(runs)} unavailable={unavailable}>
        {runs.length === 0 ? 'Replay runs …' : `Replay ${countOf(runs)} …`}
      </Button>
      <Dialog
        isOpen={asked !== undefined}
        onClose={() => setAsked(undefined)}
        title={`Replay ${countOf(asked ?? [])} in shadow`}
        description="Each is repeated on a copy of its thread, from the state that it began with. The originals are left alone."
      >
        {asked && <ReplayRunsForm runs={asked} onClose={() => setAsked(undefined)} />}
      </Dialog>
    </>
  );
}

function countOf({ length }: readonly JournalRun[]): string {
  return `${length} ${length === 1 ? 'run' : 'runs'}`;
}
