import type { SessionInfo } from '@runyard/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { Section } from '../../components/section.tsx';
import { ActionCell, Cell, HeadCell, Row, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { endOtherSessions, endSession, sessionsQuery } from '../../platform/account.ts';
import { browserName } from './browser-name.ts';

/** The places where the person is signed in. */
export function Sessions() {
  const client = useQueryClient();
  const { data: sessions, error, isPending, refetch } = useQuery(sessionsQuery);
  const [ended, setEnded] = useState<SessionInfo | 'others'>();
  const others = sessions?.filter(({ is_current: isCurrent }) => !isCurrent) ?? [];
  const end = async () => {
    if (ended === 'others') await endOtherSessions();
    else if (ended) await endSession(ended.id);
    await client.invalidateQueries(sessionsQuery);
  };
  return (
    <Section
      title="My sessions"
      about="Browsers and programs that are signed in as you."
      actions={
        <Button
          look="danger"
          unavailable={others.length === 0 ? 'You are signed in nowhere else' : undefined}
          onClick={() => setEnded('others')}
        >
          End all others …
        </Button>
      }
    >
      <Fault error={error} onRetry={() => void refetch()} />
      {isPending && <Loading what="your sessions" />}
      {sessions && (
        <Table
          caption="Your sessions, the one used last first"
          columns={['Browser', 'Address', 'Signed in', 'Used', 'Ends', 'Actions']}
        >
          {sessions.map((session) => (
            <Row key={session.id}>
              <HeadCell>
                {browserName(session.user_agent)}
                {session.is_current && <span className="block text-xs text-good">✓ this session</span>}
                {session.is_sso && <span className="block text-xs font-normal text-faint">by single sign-on</span>}
              </HeadCell>
              <Cell label="Address">{session.address ?? 'not known'}</Cell>
              <Cell label="Signed in">
                <Time at={session.created_at} />
              </Cell>
              <Cell label="Used">
                <Time at={session.last_seen_at} />
              </Cell>
              <Cell label="Ends">
                <Time at={session.expires_at} />
              </Cell>
              <ActionCell>
                <Button
                  size="small"
                  look="danger"
                  unavailable={session.is_current ? 'This is your own session: sign out in the menu' : undefined}
                  onClick={() => setEnded(session)}
                  aria-label={`End the session of ${browserName(session.user_agent)} at ${session.address}`}
                >
                  End …
                </Button>
              </ActionCell>
            </Row>
          ))}
        </Table>
      )}
      {ended && (
        <Confirm
          isOpen
          onClose={() => setEnded(undefined)}
          title={
            ended === 'others' ? 'End all other sessions?' : `End the session of ${browserName(ended.user_agent)}?`
          }
          description="Whoever uses it is signed out at once, and signs in again."
          action="End"
          isDangerous
          onConfirm={end}
        />
      )}
    </Section>
  );
}
