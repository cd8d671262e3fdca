import type { Stage, StageState } from './rollout-stages.ts';

const LOOKS: Record<StageState, { sign: string; word: string; className: string }> = {
  done: { sign: '✓', word: 'done', className: 'border-good text-good' },
  current: { sign: '●', word: 'now', className: 'border-wait text-wait' },
  failed: { sign: '✕', word: 'failed', className: 'border-fault text-fault' },
  ahead: { sign: '○', word: 'to come', className: 'border-line text-faint' },
  unreached: { sign: '–', word: 'not reached', className: 'border-line text-faint' },
  none: { sign: '–', word: 'not needed', className: 'border-line text-faint' },
};

/** The stages of a roll-out in their order, with the one where it is. */
export function RolloutStagesView({ stages }: { stages: readonly Stage[] }) {
  return (
    <ol aria-label="Stages of the roll-out" className="grid gap-2 sm:grid-cols-2 lg:grid-cols-5">
      {stages.map(({ name, state, note }) => {
        const { sign, word, className } = LOOKS[state];
        return (
          <li
            key={name}
            aria-current={state === 'current' ? 'step' : undefined}
            className={`rounded border-l-4 bg-card px-3 py-2 ${className}`}
          >
            <p className="flex items-baseline justify-between gap-2">
              <span className="font-semibold">
                <span aria-hidden="true">{sign} </span>
                {name}
              </span>
              <span className="text-xs">{word}</span>
            </p>
            <p className="text-xs text-faint">{note}</p>
          </li>
        );
      })}
    </ol>
  );
}
