import type { AuditLogVerification } from '@runyard/contracts';
import { type FormEvent, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Fault } from '../../../components/fault.tsx';
import { TextField } from '../../../components/field.tsx';
import { useAction } from '../../../components/use-action.ts';
import { verifyAudit } from '../../../platform/audit.ts';
import { useWorkspace } from '../../../session/session.ts';
import { verificationSentence } from './verification-sentence.ts';

/** Checks whether the chain of events is whole. */
export function VerifyAudit({ onClose }: { onClose: () => void }) {
  const { id: workspaceId } = useWorkspace();
  const [checkpoint, setCheckpoint] = useState('');
  const [result, setResult] = useState<AuditLogVerification>();
  const { run, isBusy, error } = useAction();
  const verify = async () => setResult(await verifyAudit(workspaceId, checkpoint.trim() || undefined));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setResult(undefined);
    void run(verify);
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Verify the audit trail"
      description="Each event contains the hash of the one before it. A checkpoint that you keep elsewhere shows whether the end was cut off or made anew."
    >
      <form onSubmit={submit} className="flex flex-col gap-3">
        <TextField
          label="Checkpoint of an earlier time"
          hint="May stay empty"
          autoComplete="off"
          spellCheck={false}
          maxLength={4_000}
          value={checkpoint}
          onChange={({ target }) => setCheckpoint(target.value)}
        />
        <Fault error={error} />
        <div role="status">
          {result && (
            <p className={result.valid ? 'text-good' : 'text-fault'}>
              {result.valid ? '✓' : '✕'} {verificationSentence(result)}
            </p>
          )}
        </div>
        {result?.checkpoint && (
          <div className="flex flex-wrap items-center gap-2">
            <span>The checkpoint of now, to keep elsewhere:</span>
            <CopyButton what="the checkpoint" text={() => result.checkpoint ?? ''} />
            <code className="w-full max-h-24 overflow-y-auto text-xs break-all text-faint">{result.checkpoint}</code>
          </div>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Close</Button>
          <Button type="submit" look="first" unavailable={isBusy ? 'It is being checked' : undefined}>
            Verify
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
