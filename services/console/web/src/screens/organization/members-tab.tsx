import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { SearchForm } from '../../components/search-form.tsx';
import { Section } from '../../components/section.tsx';
import { AddMember } from './members/add-member.tsx';
import { InvitesTable } from './members/invites-table.tsx';
import { MembersTable } from './members/members-table.tsx';
import { useOrganization } from './parts/use-organization.ts';

/** The people of the organization, and those who are invited. Search and pages are in the address. */
export function MembersTab() {
  const { missing } = useOrganization();
  const { q, page, invites } = useSearch({ strict: false }) as { q?: string; page?: number; invites?: number };
  const navigate = useNavigate({ from: '/w/$workspaceId/organization' });
  const [isAdding, setIsAdding] = useState(false);
  const change = (search: { q?: string | undefined; page?: number | undefined; invites?: number | undefined }) =>
    void navigate({ to: '.', search, resetScroll: false });
  return (
    <>
      <div className="flex flex-wrap items-end justify-between gap-3">
        <SearchForm label="Name or address" q={q} onSearch={(q) => change({ q })} />
        <Button look="first" unavailable={missing('organization:manage')} onClick={() => setIsAdding(true)}>
          Add a person …
        </Button>
      </div>
      <AddMember isOpen={isAdding} onClose={() => setIsAdding(false)} />
      <Section title="Members">
        <MembersTable q={q} page={page} onPage={(page) => change({ q, page, invites })} />
      </Section>
      <Section title="Pending invites">
        <InvitesTable q={q} page={invites} onPage={(invites) => change({ q, page, invites })} />
      </Section>
    </>
  );
}
