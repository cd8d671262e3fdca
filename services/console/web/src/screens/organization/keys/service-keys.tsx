import type { ApiKey, Role } from '@runyard/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, missingPermission } from '../../../components/button.tsx';
import { Confirm } from '../../../components/dialog.tsx';
import { Empty } from '../../../components/empty.tsx';
import { Fault } from '../../../components/fault.tsx';
import { Loading } from '../../../components/loading.tsx';
import { Section } from '../../../components/section.tsx';
import { ActionCell, Row, Table } from '../../../components/table.tsx';
import { revokeServiceKey, serviceKeysQuery } from '../../../platform/keys.ts';
import { rolesQuery } from '../../../platform/roles.ts';
import { useWorkspace } from '../../../session/session.ts';
import { ChangeKeyRoles } from './change-key-roles.tsx';
import { KEY_COLUMNS, KeyFacts } from './key-facts.tsx';
import { NewServiceKey } from './new-service-key.tsx';
import { RotateKey } from './rotate-key.tsx';

type Doing = { what: 'make' } | { what: 'rotate' | 'change' | 'revoke'; apiKey: ApiKey };

/** The service keys that the person may manage. */
export function ServiceKeys() {
  const workspace = useWorkspace();
  const client = useQueryClient();
  const { data: keys, error, isPending, refetch } = useQuery(serviceKeysQuery(workspace.id));
  const { data: roles = [] } = useQuery(rolesQuery(workspace.id));
  const [doing, setDoing] = useState<Doing>();
  const stop = () => setDoing(undefined);
  const unavailable = missingPermission(workspace.may('workspaces:manage-keys'), 'workspaces:manage-keys');
  const revoke = async ({ id }: ApiKey) => {
    await revokeServiceKey(workspace.id, id);
    await client.invalidateQueries({ queryKey: ['keys', workspace.id] });
  };
  return (
    <Section
      title="Service keys"
      about="Keys of programs. Each acts as its service account, with the roles of that."
      actions={
        <Button look="first" unavailable={unavailable} onClick={() => setDoing({ what: 'make' })}>
          New service key …
        </Button>
      }
    >
      <Fault error={error} onRetry={() => void refetch()} />
      {isPending && <Loading what="the keys" />}
      {keys?.length === 0 && (
        <Empty title="There are no service keys that you may manage">Make one for a program that is to act here.</Empty>
      )}
      {keys && keys.length > 0 && (
        <Table caption="Service keys, the newest first" columns={[...KEY_COLUMNS, 'Actions']}>
          {keys.map((apiKey) => (
            <Row key={apiKey.id}>
              <KeyFacts apiKey={apiKey} roles={roleNames(apiKey, roles)} />
              <ActionCell>
                {(['rotate', 'change', 'revoke'] as const).map((what) => (
                  <Button
                    key={what}
                    size="small"
                    look={what === 'revoke' ? 'danger' : 'plain'}
                    unavailable={unavailable}
                    onClick={() => setDoing({ what, apiKey })}
                    aria-label={`${WORDS[what]} ${apiKey.description || apiKey.short_key}`}
                  >
                    {WORDS[what]} …
                  </Button>
                ))}
              </ActionCell>
            </Row>
          ))}
        </Table>
      )}
      {doing?.what === 'make' && <NewServiceKey onClose={stop} />}
      {doing?.what === 'rotate' && <RotateKey apiKey={doing.apiKey} onClose={stop} />}
      {doing?.what === 'change' && <ChangeKeyRoles apiKey={doing.apiKey} onClose={stop} />}
      {doing?.what === 'revoke' && (
        <Confirm
          isOpen
          onClose={stop}
          title={`Revoke ${doing.apiKey.description || doing.apiKey.short_key}?`}
          description="Programs that use it are refused at once. It cannot be undone."
          action="Revoke"
          isDangerous
          typed={doing.apiKey.short_key.slice(-4)}
          onConfirm={() => revoke(doing.apiKey)}
        >
          <p>
            The key is <code>{doing.apiKey.short_key}</code>.
          </p>
        </Confirm>
      )}
    </Section>
  );
}

const WORDS = { rotate: 'Rotate', change: 'Roles', revoke: 'Revoke' };

function roleNames({ role_id: role, org_role_id: orgRole }: ApiKey, roles: readonly Role[]): string {
  const nameOf = (id: string | null) => roles.find((each) => each.id === id)?.display_name;
  return [nameOf(role), nameOf(orgRole)].filter(Boolean).join(', ');
}
