import { useMemo } from 'react';
import { Cell, HeadCell, Row, Table } from '../../components/table.tsx';
import { formatDuration } from '../../components/time.tsx';
import { alignSteps, type RunStep, STEPS_MAX } from './run-steps.ts';

/** The nodes that ran, in their order. Steps of the same nodes stand beside each other. */
export function ComparedSteps({ original, shadow }: { original: readonly RunStep[]; shadow: readonly RunStep[] }) {
  const rows = useMemo(() => alignSteps(original, shadow), [original, shadow]);
  if (rows.length === 0) return null;
  const apart = rows.filter((row) => !row.original || !row.shadow).length;
  const isCut = original.length > STEPS_MAX || shadow.length > STEPS_MAX;
  return (
    <section aria-labelledby="steps" className="flex min-w-0 flex-col gap-2">
      <h2 id="steps" className="text-base font-semibold">
        Nodes that ran
      </h2>
      <p className="text-xs text-faint">
        {apart === 0
          ? 'Both went the same way.'
          : `${apart} ${apart === 1 ? 'step is' : 'steps are'} of one of them only.`}
        {isCut && ` The first ${STEPS_MAX} steps are compared.`}
      </p>
      <Table caption="Nodes that ran" columns={['Step', 'Original', 'Shadow']}>
        {rows.map((row, index) => (
          <Row key={index}>
            <HeadCell>{index + 1}</HeadCell>
            <Cell label="Original">
              <Step step={row.original} />
            </Cell>
            <Cell label="Shadow">
              <Step step={row.shadow} />
            </Cell>
          </Row>
        ))}
      </Table>
    </section>
  );
}

function Step({ step }: { step: RunStep | undefined }) {
  if (!step) return <span className="text-faint">–</span>;
  const { nodes, durationMs, isOpen } = step;
  return (
    <>
      <code className="text-xs">{nodes.join(', ')}</code>{' '}
      <span className="text-xs text-faint">
        {isOpen ? 'not ended' : durationMs !== undefined && formatDuration(durationMs)}
      </span>
    </>
  );
}
