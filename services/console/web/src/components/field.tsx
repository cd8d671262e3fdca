import { type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, useId } from 'react';

const CONTROL = 'w-full rounded border border-edge bg-card px-2 py-1.5 text-text aria-invalid:border-fault';

interface FieldProps {
  label: string;
  /** A sentence below the label. */
  hint?: string | undefined;
  /** A sentence about what is wrong with the value. */
  fault?: string | undefined;
}

function Frame({ id, label, hint, fault, children }: FieldProps & { id: string; children: ReactNode }) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="text-xs font-semibold">
        {label}
      </label>
      {children}
      {hint && (
        <p id={`${id}-hint`} className="text-xs text-faint">
          {hint}
        </p>
      )}
      {fault && (
        <p id={`${id}-fault`} className="text-xs text-fault">
          {fault}
        </p>
      )}
    </div>
  );
}

function described(id: string, { hint, fault }: Pick<FieldProps, 'hint' | 'fault'>) {
  const ids = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ');
  return { ...(ids && { 'aria-describedby': ids }), ...(fault && { 'aria-invalid': true }) };
}

/** A line of text with its label. */
export function TextField({ label, hint, fault, ...rest }: FieldProps & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <Frame {...{ id, label, hint, fault }}>
      <input id={id} className={CONTROL} {...rest} {...described(id, { hint, fault })} />
    </Frame>
  );
}

/** A choice among few values with its label. */
export function SelectField({
  label,
  hint,
  fault,
  options,
  ...rest
}: FieldProps & SelectHTMLAttributes<HTMLSelectElement> & { options: readonly { value: string; label: string }[] }) {
  const id = useId();
  return (
    <Frame {...{ id, label, hint, fault }}>
      <select id={id} className={CONTROL} {...rest} {...described(id, { hint, fault })}>
        {options.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </Frame>
  );
}

/** A switch with its label, and a sentence about what it does. */
export function CheckField({
  label,
  hint,
  isChecked,
  onChange,
  disabled,
}: {
  label: ReactNode;
  hint?: string | undefined;
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <div className="flex min-w-0 items-start gap-2">
      <input
        id={id}
        type="checkbox"
        checked={isChecked}
        disabled={disabled}
        onChange={({ target }) => onChange(target.checked)}
        className="mt-1 size-4 shrink-0 accent-action"
        {...(hint && { 'aria-describedby': `${id}-hint` })}
      />
      <div className="min-w-0">
        <label htmlFor={id}>{label}</label>
        {hint && (
          <p id={`${id}-hint`} className="text-xs text-faint">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}
