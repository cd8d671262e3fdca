import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Empty } from '../../../components/empty.tsx';
import { Fault } from '../../../components/fault.tsx';
import { Loading } from '../../../components/loading.tsx';
import { Section } from '../../../components/section.tsx';
import { Cell, HeadCell, Row, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import { PROVISIONED_PAGE, provisionedGroupsQuery } from '../../../platform/scim.ts';
import { Pages } from '../parts/pages.tsx';
import { useOrganization } from '../parts/use-organization.ts';
import { rolesOfGroup } from './given-roles.ts';
import type { ListProps } from './list-props.ts';
import { SeparatorField } from './separator-field.tsx';

/** The groups that identity providers keep, with the roles that their names give. */
export function ProvisionedGroups({ q, page = 1, onPage }: ListProps) {
  const { workspaceId, organization } = useOrganization();
  const selected = provisionedGroupsQuery(workspaceId, { q, page });
  const { data, error, isPending, refetch } = useQuery({ ...selected, placeholderData: keepPreviousData });
  const separator = organization?.scim_group_name_separator ?? ':';
  const pattern = ['<role in the organization>', '<workspace>', '<role in the workspace>'].join(separator);
  return (
    <Section
      title="Groups"
      about={
        <>
          The name of a group gives roles to its members: <code>{pattern}</code>, or a name that ends in{' '}
          <code>Organization Admin</code>. Any text may stand before it.
        </>
      }
    >
      <SeparatorField key={separator} separator={separator} />
      <Fault error={error} onRetry={() => void refetch()} />
      {isPending && <Loading what="the groups" />}
      {data?.total === 0 && (
        <Empty title={q ? 'No group has this name' : 'No identity provider keeps groups here'}>
          {q ? 'Search for another part of it.' : 'They show once the identity provider sends the first.'}
        </Empty>
      )}
      {data && data.total > 0 && (
        <>
          <Table caption="Groups, by name" columns={['Group', 'Members', 'Gives', 'Made']}>
            {data.items.map((group) => (
              <Row key={group.id}>
                <HeadCell>{group.display_name}</HeadCell>
                <Cell label="Members">{group.member_count}</Cell>
                <Cell label="Gives">
                  {rolesOfGroup(group) ?? (
                    <span className="text-faint">nothing: no workspace and role of this name are here</span>
                  )}
                </Cell>
                <Cell label="Made">
                  <Time at={group.created_at} />
                </Cell>
              </Row>
            ))}
          </Table>
          <Pages
            what={data.total === 1 ? 'group' : 'groups'}
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
