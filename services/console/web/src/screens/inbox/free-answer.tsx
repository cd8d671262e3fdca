import { type FormEvent, type KeyboardEvent, useId, useState } from 'react';
import { Button } from '../../components/button.tsx';
import type { AnswerProps } from './answer-form.tsx';
import { readFreeAnswer } from './answer-shapes.ts';

/** An answer to a question that says nothing of its form: a text, or JSON. */
export function FreeAnswer({ send, unavailable }: AnswerProps) {
  const id = useId();
  const [text, setText] = useState('');
  const [isText, setIsText] = useState(false);
  const answer = isText ? text : readFreeAnswer(text);
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (unavailable === undefined) send(answer);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  return (
    <form className="flex flex-col gap-2" onSubmit={submit}>
      <label htmlFor={id} className="text-xs font-semibold">
        Answer
      </label>
      <textarea
        id={id}
        rows={2}
        value={text}
        aria-describedby={`${id}-kind`}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
        className="field-sizing-content max-h-96 min-h-14 w-full rounded border border-edge bg-card px-2 py-1.5"
      />
      <div className="flex flex-wrap items-center gap-3">
        <Button look="first" type="submit" unavailable={unavailable}>
          Answer
        </Button>
        <p id={`${id}-kind`} className="text-xs text-faint">
          Sent as {typeof answer === 'string' ? 'text' : `JSON (${kindOf(answer)})`}
        </p>
        {(typeof answer !== 'string' || isText) && (
          <label className="flex items-center gap-1.5 text-xs">
            <input type="checkbox" checked={isText} onChange={({ target }) => setIsText(target.checked)} />
            Send it as text
          </label>
        )}
      </div>
    </form>
  );
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}
