const BAR =
  'h-2 w-full appearance-none overflow-hidden rounded border border-line bg-raised [&::-webkit-progress-bar]:bg-raised';
const COLOURS = {
  usual: '[&::-moz-progress-bar]:bg-action [&::-webkit-progress-value]:bg-action',
  full: '[&::-moz-progress-bar]:bg-fault [&::-webkit-progress-value]:bg-fault',
};

interface ProgressBarProps {
  label: string;
  /** A value beyond `max` is shown as `max`. */
  value: number;
  max: number;
  /** True where it is bad that nothing is left. */
  isFaultWhenFull?: boolean;
}

/** A part of a whole as a bar. The numbers stand beside it as text. */
export function ProgressBar({ label, value, max, isFaultWhenFull = false }: ProgressBarProps) {
  const colour = isFaultWhenFull && value >= max ? COLOURS.full : COLOURS.usual;
  return <progress aria-label={label} value={Math.min(value, max)} max={max} className={`${BAR} ${colour}`} />;
}
