import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Empty } from '../../components/empty.tsx';
import { Fault } from '../../components/fault.tsx';
import { diffJson } from '../../components/json-diff.ts';
import { Loading } from '../../components/loading.tsx';
import { assistantSchemasQuery } from '../../platform/assistants.ts';
import type { RunPlace } from '../../platform/runs.ts';
import { ChangeList } from '../state-diff/change-list.tsx';
import { alignIds } from './align-ids.ts';
import { ComparedFacts } from './compared-facts.tsx';
import { ComparedOutput } from './compared-output.tsx';
import { ComparedSteps } from './compared-steps.tsx';
import { outputOf } from './run-output.ts';
import { type ComparedRun, useComparedRun } from './use-compared-run.ts';

/** A run and its shadow side by side. */
export function Comparison(places: { original: RunPlace; shadow: RunPlace }) {
  const original = useComparedRun(places.original);
  const shadow = useComparedRun(places.shadow);
  const { data: schemas } = useQuery({
    ...assistantSchemasQuery({ ...places.original, assistantId: original.facts?.assistantId ?? '' }),
    enabled: original.facts !== undefined,
  });
  const schema = schemas?.output_schema ?? null;
  const outputs = [original, shadow].map((run) => run.values !== undefined && outputOf(run.values, run.before, schema));
  const isMissing = shadow.run === null;
  return (
    <>
      <Fault error={original.error ?? shadow.error} onRetry={() => [original, shadow].map((run) => run.readAgain())} />
      <p role="status" className="text-faint">
        {isMissing
          ? 'The shadow is not there any more: its thread was deleted.'
          : shadow.run && (shadow.isRunning ? 'The shadow runs. What it does appears here.' : 'The shadow has ended.')}
      </p>
      {original.facts && shadow.facts ? (
        <ComparedFacts {...{ original, shadow }} />
      ) : (
        !original.error && !shadow.error && !isMissing && <Loading what="both runs" />
      )}
      <Errors {...{ original, shadow }} />
      <ComparedOutput
        original={outputs[0] || undefined}
        shadow={outputs[1] || undefined}
        isRunning={shadow.isRunning}
      />
      <ComparedSteps original={original.steps} shadow={shadow.steps} />
      <StateDifference original={original.values} shadow={shadow.values} isRunning={shadow.isRunning} />
    </>
  );
}

function Errors({ original, shadow }: { original: ComparedRun; shadow: ComparedRun }) {
  const errors = [
    { name: 'original', error: original.facts?.error },
    { name: 'shadow', error: shadow.facts?.error },
  ];
  return errors.map(
    ({ name, error }) =>
      error && (
        <p
          key={name}
          className="rounded border border-fault bg-card px-3 py-2 break-words whitespace-pre-wrap text-fault"
        >
          Error of the {name}: {error.error}: {error.message}
        </p>
      ),
  );
}

interface StateDifferenceProps {
  original: unknown;
  shadow: unknown;
  isRunning: boolean;
}

/** The differences of the states at the end of both. */
function StateDifference({ original, shadow, isRunning }: StateDifferenceProps) {
  const changes = useMemo(
    () => (original === undefined || shadow === undefined ? [] : diffJson(original, alignIds(original, shadow))),
    [original, shadow],
  );
  if (original === undefined || shadow === undefined) return null;
  return (
    <section aria-labelledby="state" className="flex min-w-0 flex-col gap-2">
      <h2 id="state" className="text-base font-semibold">
        Difference of the states
      </h2>
      <p className="text-xs text-faint">
        Before is the original, after is the shadow. Ids that each run gives anew are taken as the same.
      </p>
      {changes.length > 0 ? (
        <ChangeList changes={changes} writers={null} />
      ) : (
        <Empty title={isRunning ? 'There is no difference so far' : 'Both states are the same'} />
      )}
    </section>
  );
}
