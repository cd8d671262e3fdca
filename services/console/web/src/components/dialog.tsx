import { Dialog as Parts } from 'radix-ui';
import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { Fault } from './fault.tsx';
import { TextField } from './field.tsx';

export interface DialogProps {
  isOpen: boolean;
  /** Called when the person leaves it: by Escape, by its button, or by a click beside it. */
  onClose: () => void;
  title: string;
  /** A sentence below the title, which is read out with it. */
  description?: ReactNode;
  /** `alertdialog` where it asks before something is done. */
  role?: 'dialog' | 'alertdialog';
  children: ReactNode;
}

/** A window over the page. The focus stays in it, and returns to where it was. */
export function Dialog({ isOpen, onClose, title, description, role = 'dialog', children }: DialogProps) {
  const before = useRef<Element | null>(null);
  return (
    <Parts.Root open={isOpen} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Parts.Portal>
        <Parts.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Parts.Content
          role={role}
          {...(!description && { 'aria-describedby': undefined })}
          onOpenAutoFocus={(event) => {
            before.current = document.activeElement;
            const field = (event.currentTarget as HTMLElement).querySelector<HTMLElement>('input, select, textarea');
            // A form begins with its first field, not with the button that leaves it.
            if (!field) return;
            event.preventDefault();
            field.focus();
          }}
          onCloseAutoFocus={(event) => {
            // The part returns the focus to its own trigger only, and dialogs here are opened from anywhere.
            event.preventDefault();
            if (before.current instanceof HTMLElement) before.current.focus();
          }}
          className="fixed top-1/2 left-1/2 z-50 flex max-h-[90dvh] w-[min(36rem,94vw)] -translate-x-1/2 -translate-y-1/2 flex-col gap-3 overflow-auto rounded border border-line bg-card p-4 shadow-lg"
        >
          <header className="flex items-start justify-between gap-3">
            <Parts.Title className="min-w-0 text-lg font-semibold break-words">{title}</Parts.Title>
            <Parts.Close asChild>
              <Button look="quiet" size="small" aria-label="Close">
                ✕
              </Button>
            </Parts.Close>
          </header>
          {description && (
            <Parts.Description asChild>
              <div className="text-faint">{description}</div>
            </Parts.Description>
          )}
          {children}
        </Parts.Content>
      </Parts.Portal>
    </Parts.Root>
  );
}

export interface ConfirmProps extends Pick<DialogProps, 'isOpen' | 'onClose' | 'title' | 'description'> {
  /** The word on the button, such as `Delete`. */
  action: string;
  isDangerous?: boolean;
  /** A name that has to be typed before the button does anything. */
  typed?: string;
  /** It closes when this is done, and shows the error where it fails. */
  onConfirm: () => Promise<unknown> | unknown;
  /** Further fields of the question. */
  children?: ReactNode;
}

/** Asks before something is done. */
export function Confirm({ isOpen, onClose, title, description, ...question }: ConfirmProps) {
  return (
    <Dialog role="alertdialog" {...{ isOpen, onClose, title, description }}>
      <Question {...question} onClose={onClose} />
    </Dialog>
  );
}

function Question({
  action,
  isDangerous = false,
  typed,
  onConfirm,
  onClose,
  children,
}: Omit<ConfirmProps, 'isOpen' | 'title' | 'description'>) {
  const [text, setText] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const confirm = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy || (typed !== undefined && text !== typed)) return;
    setIsBusy(true);
    setError(undefined);
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      setError(error);
    } finally {
      setIsBusy(false);
    }
  };
  const unavailable =
    typed !== undefined && text !== typed ? `Type ${typed} first` : isBusy ? 'It is being done' : undefined;
  return (
    <form onSubmit={confirm} className="flex flex-col gap-3">
      {children}
      {typed !== undefined && (
        <TextField
          label={`Type ${typed} to confirm`}
          value={text}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => setText(target.value)}
        />
      )}
      <Fault error={error} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look={isDangerous ? 'danger' : 'first'} unavailable={unavailable}>
          {action}
        </Button>
      </div>
    </form>
  );
}
