import { type FormEvent, type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { useWorkspace } from '../../session/session.ts';

export interface ComposerProps {
  isRunning: boolean;
  canStop: boolean;
  onSend(text: string): void;
  onStop(): Promise<unknown>;
}

/** The field for a new message. Enter sends it; Shift and Enter begin a new line. */
export function Composer({ isRunning, canStop, onSend, onStop }: ComposerProps) {
  const id = useId();
  const workspace = useWorkspace();
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  // The button that had the focus goes when a run begins or ends.
  useEffect(() => {
    if (document.activeElement === document.body) field.current?.focus({ preventScroll: true });
  }, [isRunning]);
  const unavailable =
    missingPermission(workspace.may('runs:create'), 'runs:create') ??
    (isRunning ? 'The graph is still answering' : text.trim() === '' ? 'Write something first' : undefined);
  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (unavailable !== undefined) return;
    onSend(text);
    setText('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form onSubmit={send} className="sticky bottom-0 flex flex-col gap-2 bg-ground pt-2 pb-4">
      <label htmlFor={id} className="sr-only">
        Message
      </label>
      <div className="flex items-end gap-2">
        <textarea
          ref={field}
          id={id}
          rows={1}
          value={text}
          placeholder="Write a message"
          onChange={({ target }) => setText(target.value)}
          onKeyDown={onKeyDown}
          className="field-sizing-content max-h-48 min-h-9 min-w-0 flex-1 rounded border border-edge bg-card px-3 py-1.5 placeholder:text-faint"
        />
        {isRunning ? (
          <StopButton canStop={canStop} onStop={onStop} />
        ) : (
          <Button look="first" type="submit" unavailable={unavailable}>
            Send
          </Button>
        )}
      </div>
    </form>
  );
}

/** Cancels the run in flight. */
export function StopButton({ canStop, onStop }: Pick<ComposerProps, 'canStop' | 'onStop'>) {
  const workspace = useWorkspace();
  const [isStopping, setIsStopping] = useState(false);
  const [error, setError] = useState<unknown>();
  const stop = () => {
    setIsStopping(true);
    setError(undefined);
    onStop().catch((error: unknown) => {
      setIsStopping(false);
      setError(error);
    });
  };
  const unavailable =
    missingPermission(workspace.may('runs:update'), 'runs:update') ??
    (canStop ? undefined : 'The run has not begun yet') ??
    (isStopping ? 'The run is being stopped' : undefined);
  return (
    <>
      <Fault error={error} />
      <Button onClick={stop} unavailable={unavailable}>
        <span aria-hidden="true">■</span> Stop
      </Button>
    </>
  );
}
