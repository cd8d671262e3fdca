import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { Section } from '../../components/section.tsx';
import { ActionCell, Cell, HeadCell, Row, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useAction } from '../../components/use-action.ts';
import { acceptInvite, chooseOrganization, declineInvite, myInvitesQuery } from '../../platform/account.ts';
import { myOrganizationsQuery } from '../../platform/organization.ts';
import { personQuery, workspacesQuery } from '../../session/session.ts';

/** The organizations of the person, and those that invite them. */
export function MyOrganizations() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { data: person } = useQuery(personQuery);
  const { data: organizations, error, isPending, refetch } = useQuery(myOrganizationsQuery);
  const { run, isBusy, error: fault } = useAction();
  const choose = async (id: string) => {
    await chooseOrganization(id);
    // The workspaces are those of the organization that was chosen.
    await Promise.all([client.invalidateQueries(personQuery), client.invalidateQueries(workspacesQuery)]);
    await navigate({ to: '/' });
  };
  return (
    <Section title="My organizations" about="The workspaces in the menu are those of one of them.">
      <Fault error={error} onRetry={() => void refetch()} />
      <Fault error={fault} />
      {isPending && <Loading what="your organizations" />}
      {organizations && (
        <Table caption="Your organizations, the oldest first" columns={['Organization', 'Kind', 'Made', 'Actions']}>
          {organizations.map(({ id, display_name: name, created_at: at, ...organization }) => (
            <Row key={id}>
              <HeadCell>
                {name}
                {id === person?.organization_id && <span className="block text-xs text-good">✓ you work here</span>}
              </HeadCell>
              <Cell label="Kind">
                {organization.is_personal ? 'personal' : 'shared'}
                {organization.sso_only && ', by single sign-on only'}
              </Cell>
              <Cell label="Made">
                <Time at={at} />
              </Cell>
              <ActionCell>
                <Button
                  size="small"
                  unavailable={
                    id === person?.organization_id ? 'You work here' : isBusy ? 'It is being done' : undefined
                  }
                  onClick={() => void run(() => choose(id))}
                  aria-label={`Work here: ${name}`}
                >
                  Work here
                </Button>
              </ActionCell>
            </Row>
          ))}
        </Table>
      )}
      <MyInvites />
    </Section>
  );
}

function MyInvites() {
  const client = useQueryClient();
  const { data: invites = [], error, refetch } = useQuery(myInvitesQuery);
  const { run, isBusy, error: fault } = useAction();
  const [declined, setDeclined] = useState<{ id: string; name: string }>();
  const refresh = async () => {
    await Promise.all([client.invalidateQueries(myInvitesQuery), client.invalidateQueries(myOrganizationsQuery)]);
  };
  const accept = async (id: string) => {
    await acceptInvite(id);
    await refresh();
  };
  const decline = async (id: string) => {
    await declineInvite(id);
    await refresh();
  };
  return (
    <>
      <Fault error={error} onRetry={() => void refetch()} />
      <Fault error={fault} />
      {invites.length > 0 && (
        <Table caption="Organizations that invite you" columns={['Organization', 'Ends', 'Actions']}>
          {invites.map(({ id, display_name: name, expires_at: end, sso_only: isSsoOnly }) => (
            <Row key={id}>
              <HeadCell>
                {name} invites you
                {isSsoOnly && (
                  <span className="block text-xs font-normal text-faint">There you sign in by single sign-on.</span>
                )}
              </HeadCell>
              <Cell label="Ends">
                <Time at={end} />
              </Cell>
              <ActionCell>
                <Button
                  size="small"
                  look="first"
                  unavailable={isBusy ? 'It is being done' : undefined}
                  onClick={() => void run(() => accept(id))}
                  aria-label={`Accept the invite of ${name}`}
                >
                  Accept
                </Button>
                <Button
                  size="small"
                  onClick={() => setDeclined({ id, name })}
                  aria-label={`Decline the invite of ${name}`}
                >
                  Decline …
                </Button>
              </ActionCell>
            </Row>
          ))}
        </Table>
      )}
      {declined && (
        <Confirm
          isOpen
          onClose={() => setDeclined(undefined)}
          title={`Decline the invite of ${declined.name}?`}
          description="To get in later you need another invite."
          action="Decline"
          isDangerous
          onConfirm={() => decline(declined.id)}
        />
      )}
    </>
  );
}
