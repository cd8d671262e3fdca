import { useState } from 'react';
import { JsonEditor, parseJson } from '../../components/json-editor.tsx';

/** A value that is either left as it was, or written as JSON. */
export interface SwitchedJsonState {
  isOn: boolean;
  setIsOn(isOn: boolean): void;
  text: string;
  setText(text: string): void;
  isChecked: boolean;
  /** Returns the choice; undefined where the text is no JSON, which is then shown. */
  submit(): { isOn: false } | { isOn: true; value: unknown } | undefined;
}

export function useSwitchedJson(start: unknown): SwitchedJsonState {
  const [isOn, setIsOn] = useState(false);
  const [text, setText] = useState(() => JSON.stringify(start ?? null, null, 2));
  const [isChecked, setIsChecked] = useState(false);
  const submit = () => {
    setIsChecked(true);
    if (!isOn) return { isOn } as const;
    const { value, fault } = parseJson(text);
    return fault === undefined ? ({ isOn, value } as const) : undefined;
  };
  return { isOn, setIsOn, text, setText, isChecked, submit };
}

interface SwitchedJsonProps {
  /** Names the switch. */
  label: string;
  /** Names the value. */
  name: string;
  hint?: string;
  field: SwitchedJsonState;
}

/** A switch, and below it a field for JSON as long as it is on. */
export function SwitchedJson({ label, name, hint, field }: SwitchedJsonProps) {
  const { isOn, setIsOn, text, setText, isChecked } = field;
  return (
    <>
      <label className="flex items-center gap-1.5">
        <input type="checkbox" checked={isOn} onChange={({ target }) => setIsOn(target.checked)} />
        {label}
      </label>
      {isOn && (
        <JsonEditor
          label={name}
          hint={hint}
          value={text}
          onChange={setText}
          fault={isChecked ? parseJson(text).fault : undefined}
        />
      )}
    </>
  );
}
