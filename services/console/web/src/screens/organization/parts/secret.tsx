import { useEffect, useRef, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { Dialog } from '../../../components/dialog.tsx';

export interface ShownSecret {
  /** Names it: `The key`, `The link of the invite`. */
  label: string;
  value: string;
  /** A sentence on its use. */
  note: string;
}

/** Shows a secret that no other answer shows. It is forgotten with the dialog, which does not close by a mere slip. */
export function SecretDialog({ title, secret, onClose }: { title: string; secret: ShownSecret; onClose: () => void }) {
  const [isWarned, setIsWarned] = useState(false);
  return (
    <Dialog isOpen title={title} description={secret.note} onClose={() => (isWarned ? onClose() : setIsWarned(true))}>
      <Secret secret={secret} />
      <p role="status" className="text-wait">
        {isWarned && `It is not shown again. Copy it, and press Done; close once more to leave without it.`}
      </p>
      <div className="flex justify-end">
        <Button look="first" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}

function Secret({ secret: { label, value } }: { secret: ShownSecret }) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.select(), []);
  return (
    <div className="flex flex-wrap items-start gap-2">
      <textarea
        ref={field}
        aria-label={label}
        readOnly
        rows={3}
        value={value}
        className="min-w-0 grow basis-52 rounded border border-edge bg-ground px-2 py-1.5 font-mono text-xs break-all"
      />
      <CopyButton what={label.toLowerCase()} text={() => value} />
    </div>
  );
}
