import type { PendingMember } from '@runyard/contracts';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Confirm } from '../../../components/dialog.tsx';
import { Empty } from '../../../components/empty.tsx';
import { Fault } from '../../../components/fault.tsx';
import { Loading } from '../../../components/loading.tsx';
import { ActionCell, Cell, HeadCell, Row, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import { invitesQuery, MEMBERS_PAGE, withdrawInvite } from '../../../platform/members.ts';
import { useWorkspaces } from '../parts/fields.tsx';
import { Pages } from '../parts/pages.tsx';
import { useOrganization } from '../parts/use-organization.ts';

interface Props {
  q: string | undefined;
  page: number | undefined;
  onPage: (page: number | undefined) => void;
}

/** The invites that wait for their people, one page of them. */
export function InvitesTable({ q, page = 1, onPage }: Props) {
  const { workspaceId, missing } = useOrganization();
  const client = useQueryClient();
  const workspaces = useWorkspaces();
  const [withdrawn, setWithdrawn] = useState<PendingMember>();
  const { data, error, isPending, refetch } = useQuery({
    ...invitesQuery(workspaceId, { q, page }),
    placeholderData: keepPreviousData,
  });
  const withdraw = async ({ id }: PendingMember) => {
    await withdrawInvite(workspaceId, id);
    await client.invalidateQueries({ queryKey: ['members', workspaceId, 'pending'] });
  };
  return (
    <>
      <Fault error={error} onRetry={() => void refetch()} />
      {isPending && <Loading what="the invites" />}
      {data && data.items.length === 0 && (
        <Empty title={q ? 'No invite has this in its address' : 'Nobody is invited at the moment'} />
      )}
      {data && data.items.length > 0 && (
        <>
          <Table caption="Pending invites" columns={['Address', 'Role', 'Workspaces', 'Made', 'Ends', 'Actions']}>
            {data.items.map((invite) => (
              <Row key={invite.id}>
                <HeadCell>{invite.email}</HeadCell>
                <Cell label="Role">{invite.org_role_name}</Cell>
                <Cell label="Workspaces">
                  {invite.workspace_ids
                    .map((id) => workspaces.find((each) => each.id === id)?.display_name ?? 'another')
                    .join(', ') || 'none'}
                </Cell>
                <Cell label="Made">
                  <Time at={invite.created_at} />
                </Cell>
                <Cell label="Ends">
                  <Time at={invite.expires_at} />
                </Cell>
                <ActionCell>
                  <Button
                    size="small"
                    look="danger"
                    unavailable={missing('organization:manage')}
                    onClick={() => setWithdrawn(invite)}
                    aria-label={`Withdraw the invite of ${invite.email}`}
                  >
                    Withdraw …
                  </Button>
                </ActionCell>
              </Row>
            ))}
          </Table>
          <Pages what="invites" page={page} size={MEMBERS_PAGE} total={data.total} onPage={onPage} />
        </>
      )}
      {withdrawn && (
        <Confirm
          isOpen
          onClose={() => setWithdrawn(undefined)}
          title={`Withdraw the invite of ${withdrawn.email}?`}
          description="Its link works no more. The person can be invited again."
          action="Withdraw"
          isDangerous
          onConfirm={() => withdraw(withdrawn)}
        />
      )}
    </>
  );
}
