import type { Budget, Usage } from '@runyard/contracts';
import { ProgressBar } from '../../components/progress-bar.tsx';
import type { GroupValues } from '../usage/usage-rows.ts';
import type { UsageName } from '../usage/use-names.ts';
import { type Owner, ownersOf } from './budget-subject.ts';
import { type Measure, measuresOf, topUsers, usedWords } from './budget-use.ts';

interface UsedPartProps {
  budget: Budget;
  usage: Usage;
  nameOf: (values: GroupValues, group: Owner) => UsageName;
}

/** How much of a budget is used in the present period; of one that each has, by those who have used the most. */
export function UsedPart({ budget, usage, nameOf }: UsedPartProps) {
  const { name } = budget;
  const owners = ownersOf(budget);
  if (!owners) return <Measures of={name} measures={measuresOf(budget, usage.total)} />;
  const users = topUsers(usage.rows, owners, budget);
  if (users.length === 0)
    return <p className="text-faint">{owners === 'deployment' ? 'No deployment' : 'Nobody'} has used any of it.</p>;
  return (
    <ol aria-label={`Who has used the most of ${name}`} className="flex min-w-0 flex-col gap-2">
      {users.map(({ id, row, figures }) => {
        const { name: user, detail, isId } = nameOf(row, owners);
        return (
          <li key={id} className="min-w-0">
            <p className="[overflow-wrap:anywhere]">
              {isId ? <code className="text-xs">{user}</code> : user}
              {detail && <span className="text-xs text-faint"> {detail}</span>}
            </p>
            <Measures of={`${name}, ${user}`} measures={measuresOf(budget, figures)} />
          </li>
        );
      })}
    </ol>
  );
}

function Measures({ of, measures }: { of: string; measures: readonly Measure[] }) {
  return measures.map((measure) => (
    <div key={measure.unit} className="min-w-0">
      <p className="tabular-nums">{usedWords(measure)}</p>
      <ProgressBar
        label={`${measure.unit === 'tokens' ? 'Tokens' : 'Runs'} of ${of}`}
        value={measure.used}
        max={measure.max}
        isFaultWhenFull
      />
    </div>
  ));
}
