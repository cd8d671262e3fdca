import { useId, useState } from 'react';
import { SelectField, TextField } from './field.tsx';
import { JsonEditor, parseJson } from './json-editor.tsx';
import { faultsOf } from './schema-form-faults.ts';
import { type ControlProps, SchemaField } from './schema-form-field.tsx';
import { initialValue, Unparsed } from './schema-form-fields.ts';

const INPUT_TYPES: Record<string, string> = { email: 'email', uri: 'url', date: 'date', password: 'password' };

/** A text: of one line where its format says so, else as long as one writes. An optional empty one is left out. */
export function ScalarText({ field, label, fault, isRequired, value, onChange }: ControlProps) {
  const id = useId();
  const text = typeof value === 'string' ? value : '';
  const change = (text: string) => onChange(text === '' && !isRequired ? undefined : text);
  const format = field.control.kind === 'text' ? field.control.format : undefined;
  if (format !== undefined) {
    return (
      <TextField
        {...{ label, fault }}
        hint={field.description ?? format}
        type={INPUT_TYPES[format] ?? 'text'}
        required={isRequired}
        value={text}
        onChange={({ target }) => change(target.value)}
      />
    );
  }
  const described = [field.description && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ');
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="text-xs font-semibold">
        {label}
      </label>
      <textarea
        id={id}
        rows={1}
        className="field-sizing-content max-h-96 w-full rounded border border-edge bg-card px-2 py-1.5 text-text aria-invalid:border-fault"
        value={text}
        required={isRequired}
        aria-invalid={fault ? true : undefined}
        aria-describedby={described || undefined}
        onChange={({ target }) => change(target.value)}
      />
      {field.description && (
        <p id={`${id}-hint`} className="text-xs text-faint">
          {field.description}
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

/** A number, that is checked as it is written. */
export function NumberField({ field, label, fault, isRequired, value, onChange }: ControlProps) {
  const [typed, setTyped] = useState('');
  const shown = value instanceof Unparsed ? value.text : typeof value === 'number' ? String(value) : '';
  const isInteger = field.control.kind === 'number' && field.control.isInteger;
  const change = (text: string) => {
    setTyped(text);
    const number = Number(text);
    if (text.trim() === '') onChange(undefined);
    else onChange(Number.isFinite(number) ? number : new Unparsed(text));
  };
  return (
    <TextField
      {...{ label, fault }}
      hint={field.description}
      inputMode={isInteger ? 'numeric' : 'decimal'}
      required={isRequired}
      // `1.` and `1.0` stay as they are written.
      value={typed.trim() !== '' && Number(typed) === value ? typed : shown}
      onChange={({ target }) => change(target.value)}
    />
  );
}

/** A choice among values, truth too. */
export function EnumField({ field, label, fault, isRequired, value, onChange }: ControlProps) {
  const { control } = field;
  const values = control.kind === 'enum' ? control.options : [true, false];
  const chosen = values.findIndex((option) => JSON.stringify(option) === JSON.stringify(value));
  const options = values.map((option, index) => ({
    value: String(index),
    label: typeof option === 'string' ? option : JSON.stringify(option),
  }));
  return (
    <SelectField
      {...{ label, fault }}
      hint={field.description}
      options={chosen < 0 || !isRequired ? [{ value: '-1', label: 'Not chosen' }, ...options] : options}
      value={String(chosen)}
      onChange={({ target }) => onChange(target.value === '-1' ? undefined : values[Number(target.value)])}
    />
  );
}

/** One of several forms that a value may have. */
export function ChoiceField(props: ControlProps) {
  const { field, root, path, label, value, onChange } = props;
  const choices = field.control.kind === 'choice' ? field.control.choices : [];
  const [picked, setPicked] = useState<number>();
  const fitting = choices.findIndex(({ schema }) => faultsOf(value, schema, root).length === 0);
  const index = picked ?? Math.max(fitting, 0);
  const choice = choices[index];
  const pick = (index: number) => {
    setPicked(index);
    onChange(initialValue(choices[index]?.schema, root));
  };
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <SelectField
        label={`${label}: form`}
        hint={field.description}
        options={choices.map(({ label }, index) => ({ value: String(index), label }))}
        value={String(index)}
        onChange={({ target }) => pick(Number(target.value))}
      />
      {choice && <SchemaField key={index} {...props} schema={choice.schema} path={path} label={label} isRequired />}
    </div>
  );
}

/** A value that has no form of its own. */
export function JsonField({ field, label, fault, value, onChange }: ControlProps) {
  const [typed, setTyped] = useState('');
  const printed = value instanceof Unparsed ? value.text : value === undefined ? '' : JSON.stringify(value, null, 2);
  const isTyped = JSON.stringify(parseJson(typed).value) === JSON.stringify(value);
  const change = (text: string) => {
    setTyped(text);
    const { value, fault } = parseJson(text);
    onChange(fault === undefined ? value : new Unparsed(text));
  };
  return (
    <JsonEditor
      label={`${label} (JSON)`}
      hint={field.description}
      fault={fault}
      value={isTyped ? typed : printed}
      onChange={change}
    />
  );
}
