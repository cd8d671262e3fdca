import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Confirm } from '../../../components/dialog.tsx';
import { SelectField } from '../../../components/field.tsx';
import { updateOrganization } from '../../../platform/sso.ts';
import { useOrganization } from '../parts/use-organization.ts';

type Separator = (typeof SEPARATORS)[number]['value'];

const SEPARATORS = [
  { value: ':', label: ': (colon)' },
  { value: '-', label: '- (dash)' },
  { value: '_', label: '_ (underscore)' },
  { value: ' ', label: 'a space' },
  { value: '&', label: '& (ampersand)' },
] as const;

/** Chooses the character between the parts of the names of groups. All groups are read anew with it. */
export function SeparatorField({ separator }: { separator: string }) {
  const { workspaceId, missingAdministrator } = useOrganization();
  const client = useQueryClient();
  const [chosen, setChosen] = useState(separator);
  const [isAsking, setIsAsking] = useState(false);
  const save = async () => {
    await updateOrganization(workspaceId, { scim_group_name_separator: chosen as Separator });
    await Promise.all([
      client.invalidateQueries({ queryKey: ['organization', workspaceId] }),
      client.invalidateQueries({ queryKey: ['scim', workspaceId] }),
    ]);
  };
  return (
    <div className="flex min-w-0 flex-wrap items-end gap-2">
      <div className="max-w-56 grow">
        <SelectField
          label="Between the parts of a name"
          value={chosen}
          onChange={({ target }) => setChosen(target.value)}
          options={SEPARATORS}
        />
      </div>
      <Button
        unavailable={missingAdministrator ?? (chosen === separator ? 'It is the separator already' : undefined)}
        onClick={() => setIsAsking(true)}
      >
        Change …
      </Button>
      {isAsking && (
        <Confirm
          isOpen
          onClose={() => setIsAsking(false)}
          title="Change the separator?"
          description="All groups are read anew with it: people have at once the roles that the names give then, and no others from groups."
          action="Change"
          onConfirm={save}
        />
      )}
    </div>
  );
}
