import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Button, missingPermission } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { TextField } from '../../components/field.tsx';
import { toLocalField } from '../../components/time.tsx';
import { patchThreadMetadata, type ThreadPlace, threadQuery } from '../../platform/threads.ts';
import { personQuery, useWorkspace } from '../../session/session.ts';
import { ASSIGNEE, DUE } from './inbox-items.ts';

interface AssignmentProps {
  place: ThreadPlace;
  metadata: Record<string, unknown>;
  onChange(): void;
}

/** Says who answers a thread and by when. Both are metadata of the thread, which others can search by. */
export function Assignment({ place, metadata, onChange }: AssignmentProps) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { data: person } = useQuery(personQuery);
  const { mutate, isPending, error } = useMutation({
    mutationFn: (change: Record<string, unknown>) => patchThreadMetadata(place, change),
    onSuccess: (thread) => {
      queryClient.setQueryData(threadQuery(place).queryKey, thread);
      onChange();
    },
  });
  const assignee = typeof metadata[ASSIGNEE] === 'string' ? metadata[ASSIGNEE] : undefined;
  const isMine = assignee !== undefined && assignee === person?.email;
  const unavailable =
    missingPermission(workspace.may('runs:update'), 'runs:update') ?? (isPending ? 'It is being changed' : undefined);
  return (
    <div className="flex flex-col gap-2 border-t border-line pt-3">
      <div className="flex flex-wrap items-end gap-3">
        <p className="text-sm">
          <span className="block text-xs font-semibold">Assigned to</span>
          {assignee ?? <span className="text-faint">nobody</span>}
        </p>
        {!isMine && (
          <Button size="small" unavailable={unavailable} onClick={() => mutate({ [ASSIGNEE]: person?.email })}>
            Assign to me
          </Button>
        )}
        {assignee !== undefined && (
          <Button size="small" unavailable={unavailable} onClick={() => mutate({ [ASSIGNEE]: null })}>
            Assign to nobody
          </Button>
        )}
        <div className="min-w-0">
          <TextField
            label="Deadline"
            type="datetime-local"
            defaultValue={toLocalField(metadata[DUE])}
            readOnly={!workspace.may('runs:update')}
            onBlur={({ target: { value } }) => {
              if (value !== toLocalField(metadata[DUE]))
                mutate({ [DUE]: value === '' ? null : new Date(value).toISOString() });
            }}
          />
        </div>
      </div>
      <Fault error={error} />
    </div>
  );
}
