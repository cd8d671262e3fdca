import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Empty } from '../../../components/empty.tsx';
import { Fault } from '../../../components/fault.tsx';
import { Loading } from '../../../components/loading.tsx';
import { Section } from '../../../components/section.tsx';
import { Cell, HeadCell, Row, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import { PROVISIONED_PAGE, provisionedUsersQuery } from '../../../platform/scim.ts';
import { useWorkspace } from '../../../session/session.ts';
import { Pages } from '../parts/pages.tsx';
import { disablement, rolesOfUser } from './given-roles.ts';
import type { ListProps } from './list-props.ts';

/** The users whom identity providers keep, with the roles that they have. */
export function ProvisionedUsers({ q, page = 1, onPage }: ListProps) {
  const { id: workspaceId } = useWorkspace();
  const selected = provisionedUsersQuery(workspaceId, { q, page });
  const { data, error, isPending, refetch } = useQuery({ ...selected, placeholderData: keepPreviousData });
  return (
    <Section title="Users" about="They are changed at the identity provider.">
      <Fault error={error} onRetry={() => void refetch()} />
      {isPending && <Loading what="the users" />}
      {data?.total === 0 && (
        <Empty title={q ? 'No user has this name or address' : 'No identity provider keeps users here'}>
          {q ? 'Search for another part of it.' : 'They show once the identity provider sends the first.'}
        </Empty>
      )}
      {data && data.total > 0 && (
        <>
          <Table caption="Users, by address" columns={['User', 'Roles', 'Groups', 'Changed']}>
            {data.items.map((user) => {
              const reason = disablement(user);
              return (
                <Row key={user.id}>
                  <HeadCell>
                    {user.display_name}
                    <span className="block text-xs font-normal text-faint">{user.email}</span>
                    {user.user_name !== user.email && (
                      <span className="block text-xs font-normal text-faint">{user.user_name}</span>
                    )}
                    {reason && <span className="block text-xs font-normal text-fault">✕ {reason}</span>}
                  </HeadCell>
                  <Cell label="Roles">{rolesOfUser(user)}</Cell>
                  <Cell label="Groups">{user.groups.join(', ') || <span className="text-faint">none</span>}</Cell>
                  <Cell label="Changed">
                    <Time at={user.updated_at} />
                  </Cell>
                </Row>
              );
            })}
          </Table>
          <Pages
            what={data.total === 1 ? 'user' : 'users'}
            page={page}
            size={PROVISIONED_PAGE}
            total={data.total}
            onPage={onPage}
          />
        </>
      )}
    </Section>
  );
}
