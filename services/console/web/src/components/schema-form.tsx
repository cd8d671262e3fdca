import { type KeyboardEvent, useEffect, useId, useRef } from 'react';
import { JsonEditor } from './json-editor.tsx';
import { SchemaField } from './schema-form-field.tsx';
import type { SchemaFormState } from './schema-form-state.ts';

interface SchemaFormProps {
  form: SchemaFormState;
  label: string;
  /** Called on Ctrl or ⌘ and Enter. */
  onSubmit?: () => void;
}

/** Shows a form for a JSON Schema, and on demand the same value as JSON. Buttons and what happens then are the caller's. */
export function SchemaForm({ form, label, onSubmit }: SchemaFormProps) {
  const id = useId();
  const place = useRef<HTMLDivElement>(null);
  const { schema, faults, isJson, setIsJson } = form;
  const hasFaults = faults.length > 0;
  useEffect(() => {
    if (hasFaults) place.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [hasFaults]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
    event.preventDefault();
    onSubmit?.();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the fields within
    <div ref={place} onKeyDown={onKeyDown} className="flex min-w-0 flex-col gap-3">
      {setIsJson && (
        <label htmlFor={id} className="flex items-center gap-1.5 self-end text-xs">
          <input id={id} type="checkbox" checked={isJson} onChange={({ target }) => setIsJson(target.checked)} />
          As JSON
        </label>
      )}
      {isJson || !schema ? (
        <JsonEditor
          label={label}
          value={form.jsonText}
          onChange={form.setJsonText}
          onSubmit={onSubmit}
          fault={faults[0]?.text}
        />
      ) : (
        <SchemaField
          {...{ schema, faults }}
          root={schema}
          path=""
          label={label}
          isRequired
          value={form.value}
          onChange={form.setValue}
        />
      )}
      <p role="status" className="sr-only">
        {hasFaults && `${faults.length} ${faults.length === 1 ? 'value is' : 'values are'} not as they should be`}
      </p>
    </div>
  );
}
