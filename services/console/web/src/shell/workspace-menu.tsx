import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { DropdownMenu } from 'radix-ui';
import { useWorkspace, workspacesQuery } from '../session/session.ts';
import { MENU, MENU_ITEM } from './menu-classes.ts';

/** Shows in which workspace one is, and leads to the others. */
export function WorkspaceMenu() {
  const workspace = useWorkspace();
  const { data: workspaces = [] } = useQuery(workspacesQuery);
  const navigate = useNavigate();
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger className="flex w-full items-center justify-between gap-2 rounded border border-line px-2 py-1.5 text-left hover:bg-raised">
        <span className="min-w-0">
          <span className="block text-xs text-faint">Workspace</span>
          <span className="block truncate font-semibold">{workspace.name}</span>
        </span>
        <span aria-hidden="true">▾</span>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align="start" className={MENU}>
          <DropdownMenu.RadioGroup
            value={workspace.id}
            onValueChange={(workspaceId) => void navigate({ to: '/w/$workspaceId', params: { workspaceId } })}
          >
            {workspaces.map(({ id, display_name: name }) => (
              <DropdownMenu.RadioItem key={id} value={id} className={MENU_ITEM}>
                <span className="w-4" aria-hidden="true">
                  {id === workspace.id ? '✓' : ''}
                </span>
                {name}
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
