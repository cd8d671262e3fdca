import { type RefObject, useEffect } from 'react';
import { SchemaForm } from '../../components/schema-form.tsx';
import type { JsonSchema } from '../../components/schema-form-fields.ts';
import { useSchemaForm } from '../../components/schema-form-state.ts';

/** Returns the input as it is written; undefined where it has a fault, which is then shown. */
export type ReadInput = () => { value: unknown } | undefined;

interface InputFieldProps {
  /** The schema of what the graph takes; null: it is written as JSON. */
  schema: JsonSchema | null;
  start: unknown;
  fault: string | undefined;
  /** Given what reads the field. */
  reader: RefObject<ReadInput | undefined>;
  onSubmit(): void;
}

/** The input of the runs of a cron, as a form where the graph says what it takes. */
export function InputField({ schema, start, fault, reader, onSubmit }: InputFieldProps) {
  const form = useSchemaForm(schema, start);
  useEffect(() => {
    reader.current = form.submit;
  });
  return (
    <div className="flex min-w-0 flex-col gap-1">
      {schema && <h3 className="text-xs font-semibold">Input</h3>}
      <SchemaForm form={form} label={schema ? 'Input' : 'Input (optional)'} onSubmit={onSubmit} />
      {fault && (
        <p role="alert" className="text-xs text-fault">
          {fault}
        </p>
      )}
    </div>
  );
}
