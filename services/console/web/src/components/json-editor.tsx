import { lazy, Suspense, useId } from 'react';

const CodeEditor = lazy(() => import('./json-editor-view.tsx'));

export interface JsonEditorProps {
  label: string;
  /** The text, which need not be JSON while somebody writes. */
  value: string;
  onChange(text: string): void;
  fault?: string | undefined;
  hint?: string | undefined;
  /** Called on Ctrl or ⌘ and Enter. */
  onSubmit?: (() => void) | undefined;
}

/** Edits JSON as text, with its mistakes marked. A plain field stands in its place until the editor has come. */
export function JsonEditor({ label, fault, hint, ...rest }: JsonEditorProps) {
  const id = useId();
  const ids = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ');
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <span id={id} className="text-xs font-semibold">
        {label}
      </span>
      <Suspense fallback={<PlainEditor labelledBy={id} {...rest} />}>
        <CodeEditor labelledBy={id} describedBy={ids} isInvalid={fault !== undefined} {...rest} />
      </Suspense>
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

function PlainEditor({
  labelledBy,
  value,
  onChange,
}: Pick<JsonEditorProps, 'value' | 'onChange'> & { labelledBy: string }) {
  return (
    <textarea
      aria-labelledby={labelledBy}
      className="min-h-20 w-full rounded border border-edge bg-card p-2 font-mono text-xs text-text"
      value={value}
      spellCheck={false}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

/** Returns the value of JSON text; a fault in words where it is none. An empty text is no value. */
export function parseJson(text: string): { value: unknown; fault?: undefined } | { value?: undefined; fault: string } {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { fault: `This is not JSON: ${(error as Error).message}` };
  }
}
