import { type RefObject, useEffect } from 'react';
import { SchemaForm } from './schema-form.tsx';
import type { JsonSchema } from './schema-form-fields.ts';
import { useSchemaForm } from './schema-form-state.ts';

/** Returns the value as it is written; undefined where it has a fault, which is then shown. */
export type ReadField = () => { value: unknown } | undefined;

interface SchemaFieldProps {
  label: string;
  /** The schema of the value; null: it is written as JSON. */
  schema: JsonSchema | null;
  start: unknown;
  fault: string | undefined;
  /** Given what reads the field. */
  reader: RefObject<ReadField | undefined>;
  onSubmit(): void;
}

/** A field of a larger form that is a form itself, where the graph says what it takes. */
export function SchemaField({ label, schema, start, fault, reader, onSubmit }: SchemaFieldProps) {
  const form = useSchemaForm(schema, start);
  useEffect(() => {
    reader.current = form.submit;
  });
  return (
    <div className="flex min-w-0 flex-col gap-1">
      {schema && <h3 className="text-xs font-semibold">{label}</h3>}
      <SchemaForm form={form} label={schema ? label : `${label} (optional)`} onSubmit={onSubmit} />
      {fault && (
        <p role="alert" className="text-xs text-fault">
          {fault}
        </p>
      )}
    </div>
  );
}
