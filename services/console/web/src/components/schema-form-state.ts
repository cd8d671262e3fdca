import { useMemo, useState } from 'react';
import { parseJson } from './json-editor.tsx';
import { type FieldFault, faultsOf } from './schema-form-faults.ts';
import { initialValue, type JsonSchema, Unparsed } from './schema-form-fields.ts';

/** The state of a value that a person fills in, as a form or as JSON. */
export interface SchemaFormState {
  /** Null where there is none: then the value is written as JSON. */
  schema: JsonSchema | null;
  value: unknown;
  setValue(value: unknown): void;
  isJson: boolean;
  /** Changes between the form and JSON; undefined where there is JSON only. */
  setIsJson: ((isJson: boolean) => void) | undefined;
  jsonText: string;
  setJsonText(text: string): void;
  /** The faults of the value; empty until the first attempt to send. */
  faults: readonly FieldFault[];
  /** Returns the value to send; undefined where something is wrong with it, which is then shown. */
  submit(): { value: unknown } | undefined;
  /** Begins anew. */
  reset(): void;
}

/** Holds the state of a form for `schema`. Give the component that uses it a `key` for what the form is about. */
export function useSchemaForm(schema: JsonSchema | null, start?: unknown): SchemaFormState {
  const first = useMemo(() => start ?? (schema ? initialValue(schema, schema) : undefined), [schema, start]);
  const [value, setValue] = useState(first);
  const [isJson, setIsJson] = useState(schema === null);
  const [jsonText, setJsonText] = useState(() => print(first));
  const [isChecked, setIsChecked] = useState(false);
  const faultsNow = (): FieldFault[] => {
    if (!isJson && schema) return faultsOf(value, schema, schema);
    const { fault } = parseJson(jsonText);
    return fault === undefined ? [] : [{ path: '', text: fault }];
  };
  const changeSide = (toJson: boolean) => {
    const parsed = parseJson(jsonText);
    if (toJson) setJsonText(print(value));
    else if (parsed.fault === undefined) setValue(parsed.value ?? first);
    setIsChecked(false);
    setIsJson(toJson);
  };
  return {
    schema,
    value,
    setValue,
    isJson,
    setIsJson: schema === null ? undefined : changeSide,
    jsonText,
    setJsonText,
    faults: isChecked ? faultsNow() : [],
    submit: () => {
      setIsChecked(true);
      if (faultsNow().length > 0) return undefined;
      return { value: isJson ? parseJson(jsonText).value : value };
    },
    reset: () => {
      setValue(first);
      setJsonText(print(first));
      setIsChecked(false);
    },
  };
}

function print(value: unknown): string {
  const readable = (_: string, inner: unknown) => (inner instanceof Unparsed ? inner.text : inner);
  return value === undefined ? '' : JSON.stringify(value, readable, 2);
}
