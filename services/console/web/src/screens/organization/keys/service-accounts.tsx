import type { ServiceAccount } from '@runyard/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, missingPermission } from '../../../components/button.tsx';
import { Confirm } from '../../../components/dialog.tsx';
import { Empty } from '../../../components/empty.tsx';
import { Fault } from '../../../components/fault.tsx';
import { Loading } from '../../../components/loading.tsx';
import { Section } from '../../../components/section.tsx';
import { ActionCell, Cell, HeadCell, Row, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import { deleteServiceAccount, serviceAccountsQuery } from '../../../platform/keys.ts';
import { rolesQuery } from '../../../platform/roles.ts';
import { useWorkspace } from '../../../session/session.ts';
import { NewServiceAccount } from './new-service-account.tsx';
import { NewServiceKey } from './new-service-key.tsx';

type Doing = { what: 'make' } | { what: 'key' | 'delete'; account: ServiceAccount };

/** The service accounts that stay when their keys end. */
export function ServiceAccounts() {
  const workspace = useWorkspace();
  const client = useQueryClient();
  const { data: accounts, error, isPending, refetch } = useQuery(serviceAccountsQuery(workspace.id));
  const { data: roles = [] } = useQuery(rolesQuery(workspace.id));
  const [doing, setDoing] = useState<Doing>();
  const stop = () => setDoing(undefined);
  const unavailable = missingPermission(workspace.may('workspaces:manage-keys'), 'workspaces:manage-keys');
  const nameOf = (id: string) => roles.find((each) => each.id === id)?.display_name ?? 'a role';
  const remove = async ({ id }: ServiceAccount) => {
    await deleteServiceAccount(workspace.id, id);
    await client.invalidateQueries({ queryKey: ['keys', workspace.id] });
  };
  return (
    <Section
      title="Service accounts"
      about="Accounts with a role for each workspace. They have several keys, and stay when these end."
      actions={
        <Button unavailable={unavailable} onClick={() => setDoing({ what: 'make' })}>
          New service account …
        </Button>
      }
    >
      <Fault error={error} onRetry={() => void refetch()} />
      {isPending && <Loading what="the service accounts" />}
      {accounts?.length === 0 && (
        <Empty title="There are no service accounts">
          Make one for a program with several keys, or with other roles in each workspace.
        </Empty>
      )}
      {accounts && accounts.length > 0 && (
        <Table
          caption="Service accounts, the newest first"
          columns={['Account', 'Works in', 'Made', 'Used', 'Actions']}
        >
          {accounts.map((account) => (
            <Row key={account.id}>
              <HeadCell>
                {account.name}
                <span className="block text-xs font-normal text-faint">{nameOf(account.org_role_id)}</span>
              </HeadCell>
              <Cell label="Works in">
                {account.workspaces === null
                  ? 'every workspace'
                  : account.workspaces.map((each) => `${each.workspace_name} (${nameOf(each.role_id)})`).join(', ')}
              </Cell>
              <Cell label="Made">
                <Time at={account.created_at} />
              </Cell>
              <Cell label="Used">
                <Time at={account.last_used_at} />
              </Cell>
              <ActionCell>
                <Button
                  size="small"
                  unavailable={unavailable}
                  onClick={() => setDoing({ what: 'key', account })}
                  aria-label={`New key of ${account.name}`}
                >
                  New key …
                </Button>
                <Button
                  size="small"
                  look="danger"
                  unavailable={unavailable}
                  onClick={() => setDoing({ what: 'delete', account })}
                  aria-label={`Delete ${account.name}`}
                >
                  Delete …
                </Button>
              </ActionCell>
            </Row>
          ))}
        </Table>
      )}
      {doing?.what === 'make' && <NewServiceAccount onClose={stop} />}
      {doing?.what === 'key' && <NewServiceKey account={doing.account} onClose={stop} />}
      {doing?.what === 'delete' && (
        <Confirm
          isOpen
          onClose={stop}
          title={`Delete ${doing.account.name}?`}
          description="All its keys are revoked at once. It cannot be undone."
          action="Delete"
          isDangerous
          typed={doing.account.name}
          onConfirm={() => remove(doing.account)}
        />
      )}
    </Section>
  );
}
