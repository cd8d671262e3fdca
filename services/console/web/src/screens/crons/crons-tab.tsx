import type { Cron } from '@runyard/contracts';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { Table } from '../../components/table.tsx';
import { assistantsQuery } from '../../platform/assistants.ts';
import { cronsQuery, deleteCron, patchCron } from '../../platform/crons.ts';
import { useWorkspace } from '../../session/session.ts';
import { nameOf } from '../assistants/assistant-name.ts';
import { CreateCron } from './create-cron.tsx';
import { CRON_COLUMNS, CronRow } from './cron-row.tsx';
import { EditCron } from './edit-cron.tsx';

const ROUTE = '/signed-in/w/$workspaceId/deployments/$deploymentId/crons';

type Opened = { dialog: 'create' } | { dialog: 'edit' | 'delete'; cron: Cron };

/** The crons of a deployment, the next to fire first. */
export function CronsTab() {
  const workspace = useWorkspace();
  const place = useParams({ from: ROUTE });
  const { workspaceId, deploymentId } = place;
  const client = useQueryClient();
  const [opened, setOpened] = useState<Opened>();
  const [said, setSaid] = useState('');
  const assistants = useQuery(assistantsQuery(workspaceId, deploymentId));
  const pages = useInfiniteQuery(cronsQuery(place));
  const readAgain = () => client.invalidateQueries({ queryKey: cronsQuery(place).queryKey });
  const change = useMutation({
    mutationFn: ({ cron_id: id, enabled }: Cron) => patchCron(place, id, { enabled: !enabled }),
    onSuccess: async ({ schedule, enabled }) => {
      await readAgain();
      setSaid(`The cron ${schedule} is ${enabled ? 'resumed' : 'paused'}`);
    },
  });
  const remove = async ({ cron_id: id, schedule }: Cron) => {
    await deleteCron(place, id);
    await readAgain();
    setSaid(`The cron ${schedule} was deleted`);
  };
  const close = () => setOpened(undefined);
  const crons = pages.data?.pages.flatMap((page) => page.crons) ?? [];
  const total = pages.data?.pages.at(-1)?.total;
  const names = new Map(assistants.data?.map((assistant) => [assistant.assistant_id, nameOf(assistant)]));
  const unavailable =
    missingPermission(workspace.may('runs:create'), 'runs:create') ??
    (assistants.data?.length ? undefined : 'The assistants of the deployment are not known yet');
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h2 className="text-lg font-semibold">Crons</h2>
        <Button look="first" unavailable={unavailable} onClick={() => setOpened({ dialog: 'create' })}>
          New cron
        </Button>
      </div>
      <Fault
        error={change.error ?? pages.error ?? assistants.error}
        onRetry={change.error ? undefined : () => void Promise.all([pages.refetch(), assistants.refetch()])}
      />
      <p role="status" className="text-xs text-faint">
        {said || (total !== undefined && `${total} ${total === 1 ? 'cron' : 'crons'}`)}
      </p>
      {pages.isPending && <Loading what="crons" />}
      {pages.isSuccess && crons.length === 0 && (
        <Empty title="There is no cron yet">A cron makes runs at the times of a schedule.</Empty>
      )}
      {crons.length > 0 && (
        <Table caption="Crons, the next to fire first" columns={CRON_COLUMNS}>
          {crons.map((cron) => (
            <CronRow
              key={cron.cron_id}
              place={place}
              cron={cron}
              assistantName={names.get(cron.assistant_id) ?? `…${cron.assistant_id.slice(-8)}`}
              isChanging={change.isPending && change.variables.cron_id === cron.cron_id}
              onEdit={() => setOpened({ dialog: 'edit', cron })}
              onSwitch={() => change.mutate(cron)}
              onDelete={() => setOpened({ dialog: 'delete', cron })}
            />
          ))}
        </Table>
      )}
      {pages.hasNextPage && (
        <Button
          className="self-start"
          unavailable={pages.isFetchingNextPage ? 'They are being read' : undefined}
          onClick={() => void pages.fetchNextPage()}
        >
          More crons
        </Button>
      )}
      <CreateCron
        isOpen={opened?.dialog === 'create'}
        onClose={close}
        place={place}
        assistants={assistants.data ?? []}
        onDone={setSaid}
      />
      {opened?.dialog === 'edit' && <EditCron place={place} cron={opened.cron} onClose={close} onDone={setSaid} />}
      {opened?.dialog === 'delete' && (
        <Confirm
          isOpen
          onClose={close}
          title={`Delete the cron ${opened.cron.schedule}?`}
          description="It makes no further run. Runs that it has made go on."
          action="Delete"
          isDangerous
          onConfirm={() => remove(opened.cron)}
        />
      )}
    </>
  );
}
