import type { Budget } from '@runyard/contracts';
import { type ReactNode, useId } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { Time } from '../../components/time.tsx';
import { useWorkspace } from '../../session/session.ts';
import { endOfPeriod } from './budget-period.ts';
import { presentWords } from './budget-sentence.ts';

const REFUSALS = {
  402: '402 Payment Required',
  429: '429 Too Many Requests, with the seconds until it begins anew',
} as const satisfies Record<Budget['refusal_status'], string>;

interface BudgetCardProps {
  budget: Budget;
  /** The sentence that says what it allows. */
  allows: string;
  /** A moment in its present period. */
  moment: number;
  onEdit(): void;
  onSwitch(): void;
  onDelete(): void;
  /** How much of it is used. */
  children: ReactNode;
}

/** A budget: what it allows, what becomes of runs beyond it, and how much of it is used. */
export function BudgetCard({ budget, allows, moment, onEdit, onSwitch, onDelete, children }: BudgetCardProps) {
  const { may } = useWorkspace();
  const titleId = useId();
  const unavailable = missingPermission(may('deployments:update'), 'deployments:update');
  const { name, mode, period, created_at: madeAt } = budget;
  const isEnforced = mode === 'enforced';
  const end = new Date(endOfPeriod(period, moment)).toISOString();
  const button = (verb: string, label: string, onClick: () => void) => (
    <Button
      size="small"
      look={verb === 'Delete' ? 'danger' : 'plain'}
      aria-label={`${verb} ${name}`}
      {...{ unavailable, onClick }}
    >
      {label}
    </Button>
  );
  return (
    <article aria-labelledby={titleId} className="flex min-w-0 flex-col gap-3 rounded border border-line bg-card p-4">
      <header className="flex flex-wrap items-start justify-between gap-2">
        <div className="min-w-0">
          <h3 id={titleId} className="font-semibold break-words">
            {name}
          </h3>
          <p className="[overflow-wrap:anywhere]">{allows}</p>
        </div>
        <div className="flex flex-wrap gap-2">
          {button('Edit', 'Edit …', onEdit)}
          {isEnforced ? button('Only count', 'Only count …', onSwitch) : button('Enforce', 'Enforce …', onSwitch)}
          {button('Delete', 'Delete …', onDelete)}
        </div>
      </header>
      <dl className="grid min-w-0 gap-x-4 gap-y-1 md:grid-cols-[max-content_1fr]">
        <Fact name="Mode">
          {isEnforced ? <span className="text-good">✓ enforced</span> : '○ only counted: nothing is refused'}
        </Fact>
        <Fact name="Runs beyond it">
          {isEnforced ? 'are refused with' : 'would be refused with'} {REFUSALS[budget.refusal_status]}
        </Fact>
        <Fact name={budget.deployment_id === null ? 'Deployments' : 'Deployment'}>
          <Reached budget={budget} />
        </Fact>
        <Fact name="Begins anew">
          <Time at={end} />, {end.slice(0, 16).replace('T', ' ')} UTC
        </Fact>
        <Fact name="Made">
          <Time at={madeAt} />
        </Fact>
      </dl>
      <div className="flex min-w-0 flex-col gap-2">
        <h4 className="text-xs font-semibold text-faint">Used {presentWords(period)}</h4>
        {children}
      </div>
    </article>
  );
}

function Reached({ budget: { deployment_id: deploymentId, is_reached: isReached, message } }: { budget: Budget }) {
  const isOfAll = deploymentId === null;
  if (isReached) return <span className="text-good">{isOfAll ? '✓ all have it' : '✓ has it'}</span>;
  return (
    <span className="text-wait">
      {isOfAll ? '● not all have confirmed it yet' : '● has not confirmed it yet'}
      {message && `: ${message}`}
    </span>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="contents max-md:block">
      <dt className="text-faint">{name}</dt>
      <dd className="min-w-0 [overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}
