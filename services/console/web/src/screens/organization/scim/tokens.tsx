import type { ScimToken } from '@runyard/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Confirm } from '../../../components/dialog.tsx';
import { Empty } from '../../../components/empty.tsx';
import { Fault } from '../../../components/fault.tsx';
import { Loading } from '../../../components/loading.tsx';
import { Section } from '../../../components/section.tsx';
import { ActionCell, Cell, HeadCell, Row, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import { revokeScimToken, scimTokensQuery } from '../../../platform/scim.ts';
import { useOrganization } from '../parts/use-organization.ts';
import { TokenDialog } from './token-dialog.tsx';

type Doing = { what: 'make' } | { what: 'describe' | 'revoke'; token: ScimToken };

/** The tokens with which identity providers come. */
export function ScimTokens() {
  const { workspaceId, missingAdministrator } = useOrganization();
  const client = useQueryClient();
  const { data: tokens, error, isPending, refetch } = useQuery(scimTokensQuery(workspaceId));
  const [doing, setDoing] = useState<Doing>();
  const stop = () => setDoing(undefined);
  const revoke = async ({ id }: ScimToken) => {
    await revokeScimToken(workspaceId, id);
    await client.invalidateQueries({ queryKey: ['scim', workspaceId, 'tokens'] });
  };
  return (
    <Section
      title="Tokens"
      about="Several are valid at once: make the new one, enter it at the identity provider, then revoke the old one."
      actions={
        <Button look="first" unavailable={missingAdministrator} onClick={() => setDoing({ what: 'make' })}>
          New token …
        </Button>
      }
    >
      <Fault error={error} onRetry={() => void refetch()} />
      {isPending && <Loading what="the tokens" />}
      {tokens?.length === 0 && (
        <Empty title="There are no SCIM tokens">
          Make one, and enter it at the identity provider with the base URL.
        </Empty>
      )}
      {tokens && tokens.length > 0 && (
        <Table caption="SCIM tokens, the newest first" columns={['Token', 'Made', 'Used', 'Actions']}>
          {tokens.map((token) => (
            <Row key={token.id}>
              <HeadCell>
                {token.description}
                <code className="block text-xs font-normal text-faint">{token.short_token}</code>
              </HeadCell>
              <Cell label="Made">
                <Time at={token.created_at} />
              </Cell>
              <Cell label="Used">
                <Time at={token.last_used_at} />
              </Cell>
              <ActionCell>
                <Button
                  size="small"
                  unavailable={missingAdministrator}
                  onClick={() => setDoing({ what: 'describe', token })}
                  aria-label={`Describe ${token.description}`}
                >
                  Describe …
                </Button>
                <Button
                  size="small"
                  look="danger"
                  unavailable={missingAdministrator}
                  onClick={() => setDoing({ what: 'revoke', token })}
                  aria-label={`Revoke ${token.description}`}
                >
                  Revoke …
                </Button>
              </ActionCell>
            </Row>
          ))}
        </Table>
      )}
      {doing?.what === 'make' && <TokenDialog onClose={stop} />}
      {doing?.what === 'describe' && <TokenDialog token={doing.token} onClose={stop} />}
      {doing?.what === 'revoke' && (
        <Confirm
          isOpen
          onClose={stop}
          title={`Revoke ${doing.token.description}?`}
          description="The identity provider is refused at once. Its users and groups stay as they are. It cannot be undone."
          action="Revoke"
          isDangerous
          typed={doing.token.short_token.slice(-4)}
          onConfirm={() => revoke(doing.token)}
        >
          <p>
            The token is <code>{doing.token.short_token}</code>.
          </p>
        </Confirm>
      )}
    </Section>
  );
}
