import type { OrgMember } from '@runyard/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Empty } from '../../../components/empty.tsx';
import { Fault } from '../../../components/fault.tsx';
import { Loading } from '../../../components/loading.tsx';
import { ActionCell, Cell, HeadCell, Row, Table } from '../../../components/table.tsx';
import { MEMBERS_PAGE, membersQuery } from '../../../platform/members.ts';
import { useWorkspaces } from '../parts/fields.tsx';
import { Pages } from '../parts/pages.tsx';
import { useOrganization } from '../parts/use-organization.ts';
import { ChangeRoles } from './change-roles.tsx';
import { RemoveMember } from './remove-member.tsx';
import { signInName } from './sign-in-name.ts';

interface Props {
  q: string | undefined;
  page: number | undefined;
  onPage: (page: number | undefined) => void;
}

/** The members, by name, one page of them. */
export function MembersTable({ q, page = 1, onPage }: Props) {
  const { workspaceId } = useOrganization();
  const [changed, setChanged] = useState<OrgMember>();
  const [removed, setRemoved] = useState<OrgMember>();
  const { data, error, isPending, refetch } = useQuery({
    ...membersQuery(workspaceId, { q, page }),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <Fault error={error} onRetry={() => void refetch()} />
      {isPending && <Loading what="the members" />}
      {data && data.items.length === 0 && (
        <Empty title={q ? 'Nobody has this in the name or address' : 'Nobody is on this page'}>
          Search for another name, or invite the person.
        </Empty>
      )}
      {data && data.items.length > 0 && (
        <Table caption="Members by name" columns={['Person', 'Role', 'Workspaces', 'Signs in by', 'Actions']}>
          {data.items.map((member) => (
            <MemberRow
              key={member.id}
              member={member}
              onChange={() => setChanged(member)}
              onRemove={() => setRemoved(member)}
            />
          ))}
        </Table>
      )}
      {data && <Pages what="members" page={page} size={MEMBERS_PAGE} total={data.total} onPage={onPage} />}
      {changed && <ChangeRoles member={changed} onClose={() => setChanged(undefined)} />}
      {removed && <RemoveMember member={removed} onClose={() => setRemoved(undefined)} />}
    </>
  );
}

function MemberRow({ member, onChange, onRemove }: { member: OrgMember; onChange: () => void; onRemove: () => void }) {
  const { workspaceId, missing } = useOrganization();
  const workspaces = useWorkspaces();
  const names = member.tenant_ids.map((id) => workspaces.find((each) => each.id === id)?.display_name ?? 'another');
  const unavailable = missing('organization:manage');
  return (
    <Row>
      <HeadCell>
        {member.display_name}
        <span className="block text-xs font-normal text-faint">{member.email}</span>
        {member.is_disabled && <span className="block text-xs text-fault">✕ disabled: may not sign in</span>}
      </HeadCell>
      <Cell label="Role">{member.org_role_name}</Cell>
      <Cell label="Workspaces">
        {/Admin$/.test(member.org_role_name) ? 'all, as administrator' : names.join(', ') || 'none'}
      </Cell>
      <Cell label="Signs in by">
        {member.linked_login_methods.map(signInName).join(', ') || 'has not signed in yet'}
      </Cell>
      <ActionCell>
        <Link
          to="/w/$workspaceId/organization/access"
          params={{ workspaceId }}
          search={{ identity: member.id }}
          aria-label={`Access of ${member.display_name}`}
          className="self-center px-1 text-xs"
        >
          Access
        </Link>
        <Button
          size="small"
          unavailable={unavailable}
          onClick={onChange}
          aria-label={`Change roles of ${member.display_name}`}
        >
          Roles …
        </Button>
        <Button
          size="small"
          look="danger"
          unavailable={unavailable}
          onClick={onRemove}
          aria-label={`Remove ${member.display_name}`}
        >
          Remove …
        </Button>
      </ActionCell>
    </Row>
  );
}
