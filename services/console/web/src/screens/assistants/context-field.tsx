import { type RefObject, useEffect } from 'react';
import { SchemaForm } from '../../components/schema-form.tsx';
import type { JsonSchema } from '../../components/schema-form-fields.ts';
import { useSchemaForm } from '../../components/schema-form-state.ts';

/** Returns the context as it is written; undefined where it has a fault, which is then shown. */
export type ReadContext = () => { value: unknown } | undefined;

interface ContextFieldProps {
  /** The schema of what the graph is configured with; null: it is written as JSON. */
  schema: JsonSchema | null;
  start: unknown;
  fault: string | undefined;
  /** Given what reads the field. */
  reader: RefObject<ReadContext | undefined>;
  onSubmit(): void;
}

/** The configuration that a graph gets from its assistant, as a form where the graph says what it takes. */
export function ContextField({ schema, start, fault, reader, onSubmit }: ContextFieldProps) {
  const form = useSchemaForm(schema, start);
  useEffect(() => {
    reader.current = form.submit;
  });
  return (
    <div className="flex min-w-0 flex-col gap-1">
      {schema && <h3 className="text-xs font-semibold">Context</h3>}
      <SchemaForm form={form} label={schema ? 'Context' : 'Context (optional)'} onSubmit={onSubmit} />
      {fault && (
        <p role="alert" className="text-xs text-fault">
          {fault}
        </p>
      )}
    </div>
  );
}
