import { useQuery } from '@tanstack/react-query';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import type { RunPlace } from '../../platform/runs.ts';
import { replayPlanQuery } from './plan-replay.ts';
import { ReplayForm } from './replay-form.tsx';
import { ShadowList } from './shadow-list.tsx';

/** The choices for a shadow of a run, or why it can have none, and the shadows that it has. */
export function NewShadow({ place }: { place: RunPlace }) {
  // It is about the run as it is now, and not as it was when somebody looked before.
  const planned = useQuery({ ...replayPlanQuery(place), gcTime: 0 });
  return (
    <>
      <p className="max-w-prose text-faint">
        The run is repeated on a copy of its thread, from the state that it began with. The original, its thread and its
        webhook are left alone.
      </p>
      <Fault error={planned.error} onRetry={() => void planned.refetch()} />
      {planned.isPending && !planned.error && <Loading what="the run" />}
      {planned.data?.refusal !== undefined && (
        <p role="status" className="rounded border border-line bg-card p-3">
          This run cannot be replayed. {planned.data.refusal}
        </p>
      )}
      {planned.data?.plan && <ReplayForm plan={planned.data.plan} />}
      <ShadowList place={place} />
    </>
  );
}
