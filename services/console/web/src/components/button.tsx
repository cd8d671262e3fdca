import type { ButtonHTMLAttributes } from 'react';
import { useId } from 'react';

const LOOKS = {
  first: 'bg-action text-on-action border-action',
  plain: 'bg-card text-text border-edge hover:bg-raised',
  quiet: 'bg-transparent text-text border-transparent hover:bg-raised',
  danger: 'bg-card text-fault border-fault hover:bg-raised',
};
const SIZES = { usual: 'px-3 py-1.5', small: 'px-2 py-0.5 text-xs' };

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: keyof typeof LOOKS;
  size?: keyof typeof SIZES;
  /** The sentence that says why the button does nothing at the moment, such as the permission that is missing. */
  unavailable?: string | undefined;
}

/** Returns the classes of something that looks like a button. */
export function buttonClass({ look = 'plain', size = 'usual' }: Pick<ButtonProps, 'look' | 'size'> = {}): string {
  return `inline-flex items-center gap-1.5 rounded border font-medium no-underline ${LOOKS[look]} ${SIZES[size]} disabled:opacity-60 aria-disabled:cursor-not-allowed aria-disabled:opacity-60`;
}

/** A button. One that a person may not use can be reached all the same, and says why. */
export function Button({ look, size, unavailable, className = '', onClick, children, ...rest }: ButtonProps) {
  const reason = useId();
  const isUnavailable = unavailable !== undefined;
  return (
    <>
      <button
        type="button"
        {...rest}
        className={`${buttonClass({ look, size })} ${className}`}
        {...(isUnavailable
          ? { 'aria-disabled': true, 'aria-describedby': reason, title: unavailable, type: 'button' as const }
          : { onClick })}
      >
        {children}
      </button>
      {isUnavailable && (
        <span id={reason} className="sr-only">
          {unavailable}
        </span>
      )}
    </>
  );
}

/** Returns the sentence for a button of which the permission is missing; undefined where it is there. */
export function missingPermission(mayDo: boolean, permission: string): string | undefined {
  return mayDo ? undefined : `You need the permission ${permission} in this workspace`;
}
