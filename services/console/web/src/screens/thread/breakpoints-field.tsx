import type { Breakpoints } from './run-request.ts';

interface BreakpointsFieldProps {
  nodes: readonly string[];
  value: Breakpoints;
  onChange(value: Breakpoints): void;
}

const SIDES = ['before', 'after'] as const;

/** Chooses the nodes before and after which a run stops. */
export function BreakpointsField({ nodes, value, onChange }: BreakpointsFieldProps) {
  const isChosen = (side: 'before' | 'after', node: string) => value[side] === '*' || value[side].includes(node);
  const choose = (side: 'before' | 'after', node: string) => {
    const chosen = value[side] === '*' ? [...nodes] : value[side];
    const next = chosen.includes(node) ? chosen.filter((each) => each !== node) : [...chosen, node];
    onChange({ ...value, [side]: next });
  };
  const box = (label: string, isChecked: boolean, onToggle: () => void) => (
    <input type="checkbox" aria-label={label} checked={isChecked} onChange={onToggle} className="size-4" />
  );
  return (
    <details>
      <summary className="cursor-pointer text-xs font-semibold">Breakpoints{countOf(value)}</summary>
      <table className="mt-2 w-full border-collapse text-left">
        <caption className="pb-1 text-left text-xs text-faint">The run stops there, and can be gone on with.</caption>
        <thead className="text-xs text-faint">
          <tr>
            <th scope="col" className="px-2 py-1 font-medium">
              Node
            </th>
            <th scope="col" className="px-2 py-1 font-medium">
              Before
            </th>
            <th scope="col" className="px-2 py-1 font-medium">
              After
            </th>
          </tr>
        </thead>
        <tbody>
          <tr className="border-t border-line">
            <th scope="row" className="px-2 py-1 font-medium">
              Every node
            </th>
            {SIDES.map((side) => (
              <td key={side} className="px-2 py-1">
                {box(`Stop ${side} every node`, value[side] === '*', () =>
                  onChange({ ...value, [side]: value[side] === '*' ? [] : '*' }),
                )}
              </td>
            ))}
          </tr>
          {nodes.map((node) => (
            <tr key={node} className="border-t border-line">
              <th scope="row" className="px-2 py-1 font-mono text-xs font-normal break-all">
                {node}
              </th>
              {SIDES.map((side) => (
                <td key={side} className="px-2 py-1">
                  {box(`Stop ${side} ${node}`, isChosen(side, node), () => choose(side, node))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function countOf({ before, after }: Breakpoints): string {
  if (before === '*' || after === '*') return ' (every node)';
  const count = before.length + after.length;
  return count === 0 ? '' : ` (${count})`;
}
