import type { Deployment, HaltState } from '@runyard/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { Time } from '../../components/time.tsx';
import { haltDeployment, haltQuery, resumeDeployment } from '../../platform/deployments.ts';
import { useWorkspace } from '../../session/session.ts';

const WATCHED_MS = 2_000;
const SELDOM_MS = 30_000;

/** A halt is watched closely until everything that it stops has stopped. */
function refetchMs(halt: HaltState | undefined): number {
  if (!halt) return SELDOM_MS;
  return halt.reached < halt.deployments || (halt.is_halted && halt.runs_in_flight > 0) ? WATCHED_MS : SELDOM_MS;
}

function useHalt(deploymentId: string): HaltState | undefined {
  const workspace = useWorkspace();
  const query = haltQuery(workspace.id, deploymentId);
  return useQuery({ ...query, refetchInterval: ({ state }) => refetchMs(state.data) }).data;
}

/** Says that a deployment is halted, by which halts, and how far that is. */
export function HaltNotice({ deploymentId }: { deploymentId: string }) {
  const halt = useHalt(deploymentId);
  return (
    <div role="status" className="empty:-mb-4">
      {halt?.is_halted && (
        <div className="rounded border border-fault bg-card p-3">
          <p className="font-semibold text-fault">It is halted and takes no new runs</p>
          <ul className="mt-1">
            {halt.halts.map(({ scope, reason, queued, created_at: at }) => (
              <li key={scope} className="break-words">
                With the {scope}, <Time at={at} />: “{reason}”. Waiting runs{' '}
                {queued === 'keep' ? 'wait until it is resumed' : 'are cancelled'}.
              </li>
            ))}
          </ul>
          <p className="mt-1 text-faint">
            {halt.runs_cancelled} runs cancelled, {halt.runs_in_flight} still running, {halt.runs_queued} waiting.
            {halt.reached < halt.deployments && ' The deployment has not confirmed it yet.'}
            {halt.not_reached.map(({ message }) => message && ` ${message}.`)}
          </p>
        </div>
      )}
    </div>
  );
}

/** Halts a deployment, or ends the halt that it has itself. */
export function Halt({ deployment }: { deployment: Deployment }) {
  const workspace = useWorkspace();
  const client = useQueryClient();
  const halt = useHalt(deployment.id);
  const [isOpen, setIsOpen] = useState(false);
  const [reason, setReason] = useState('');
  const [queued, setQueued] = useState<'keep' | 'cancel'>('keep');
  const unavailable = missingPermission(workspace.may('deployments:halt'), 'deployments:halt');
  const isHaltedItself = halt?.halts.some(({ scope }) => scope === 'deployment') ?? false;
  const change = async () => {
    const state = isHaltedItself
      ? await resumeDeployment(workspace.id, deployment.id)
      : await haltDeployment(workspace.id, deployment.id, { reason: reasonGiven(reason), queued });
    client.setQueryData(haltQuery(workspace.id, deployment.id).queryKey, state);
  };
  return (
    <>
      <Button unavailable={unavailable} onClick={() => setIsOpen(true)}>
        {isHaltedItself ? 'Resume …' : 'Halt …'}
      </Button>
      {isHaltedItself ? (
        <Confirm
          isOpen={isOpen}
          onClose={() => setIsOpen(false)}
          title={`Resume ${deployment.name}?`}
          description="It takes runs again, unless its workspace or organization is halted too."
          action="Resume"
          onConfirm={change}
        />
      ) : (
        <Confirm
          isOpen={isOpen}
          onClose={() => setIsOpen(false)}
          title={`Halt ${deployment.name}?`}
          description="New runs are refused, and those in flight are cancelled, until somebody resumes it."
          action="Halt"
          isDangerous
          onConfirm={change}
        >
          <TextField
            label="Reason"
            hint="Clients that are refused are shown it"
            value={reason}
            maxLength={500}
            onChange={({ target }) => setReason(target.value)}
          />
          <SelectField
            label="Waiting runs"
            value={queued}
            onChange={({ target }) => setQueued(target.value as 'keep' | 'cancel')}
            options={[
              { value: 'keep', label: 'Wait until it is resumed' },
              { value: 'cancel', label: 'Are cancelled' },
            ]}
          />
        </Confirm>
      )}
    </>
  );
}

/** @throws Error, where there is none */
function reasonGiven(reason: string): string {
  if (reason.trim() === '') throw new Error('Say why: clients that are refused are shown the reason');
  return reason.trim();
}
