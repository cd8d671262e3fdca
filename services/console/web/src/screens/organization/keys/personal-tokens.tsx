import type { ApiKey } from '@runyard/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Confirm } from '../../../components/dialog.tsx';
import { Empty } from '../../../components/empty.tsx';
import { Fault } from '../../../components/fault.tsx';
import { Loading } from '../../../components/loading.tsx';
import { Section } from '../../../components/section.tsx';
import { ActionCell, Row, Table } from '../../../components/table.tsx';
import { personalTokensQuery, revokePersonalToken } from '../../../platform/keys.ts';
import { useOrganization } from '../parts/use-organization.ts';
import { KEY_COLUMNS, KeyFacts } from './key-facts.tsx';
import { NewToken } from './new-token.tsx';

/** The person's own tokens in the organization. */
export function PersonalTokens() {
  const { workspaceId, organization, missing } = useOrganization();
  const client = useQueryClient();
  const { data: tokens, error, isPending, refetch } = useQuery(personalTokensQuery(workspaceId));
  const [isMaking, setIsMaking] = useState(false);
  const [revoked, setRevoked] = useState<ApiKey>();
  const revoke = async ({ id }: ApiKey) => {
    await revokePersonalToken(workspaceId, id);
    await client.invalidateQueries({ queryKey: ['keys', workspaceId] });
  };
  const unavailable = organization?.pat_creation_disabled
    ? 'The organization does not allow new personal access tokens'
    : missing('organization:pats:create');
  return (
    <Section
      title="My personal access tokens"
      about="Each may what you may at the moment, in this organization, and ends with your membership."
      actions={
        <Button unavailable={unavailable} onClick={() => setIsMaking(true)}>
          New token …
        </Button>
      }
    >
      <Fault error={error} onRetry={() => void refetch()} />
      {isPending && <Loading what="your tokens" />}
      {tokens?.length === 0 && (
        <Empty title="You have no personal access tokens">Make one for the SDK or curl on your own machine.</Empty>
      )}
      {tokens && tokens.length > 0 && (
        <Table caption="Your personal access tokens, the newest first" columns={[...KEY_COLUMNS, 'Actions']}>
          {tokens.map((token) => (
            <Row key={token.id}>
              <KeyFacts apiKey={token} />
              <ActionCell>
                <Button
                  size="small"
                  look="danger"
                  onClick={() => setRevoked(token)}
                  aria-label={`Revoke ${token.description || token.short_key}`}
                >
                  Revoke …
                </Button>
              </ActionCell>
            </Row>
          ))}
        </Table>
      )}
      {isMaking && <NewToken onClose={() => setIsMaking(false)} />}
      {revoked && (
        <Confirm
          isOpen
          onClose={() => setRevoked(undefined)}
          title={`Revoke ${revoked.description || revoked.short_key}?`}
          description="Programs that use it are refused at once. It cannot be undone."
          action="Revoke"
          isDangerous
          onConfirm={() => revoke(revoked)}
        />
      )}
    </Section>
  );
}
