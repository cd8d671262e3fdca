import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { DropdownMenu } from 'radix-ui';
import { useState } from 'react';
import { Fault } from '../components/fault.tsx';
import { personQuery, signOut } from '../session/session.ts';
import { MENU, MENU_ITEM } from './menu-classes.ts';
import { applyTheme, chosenTheme, type Theme } from './theme.ts';

const THEMES: { value: Theme; label: string }[] = [
  { value: 'system', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

/** Shows who is signed in, how the pages look, and the way out. */
export function AccountMenu() {
  const { data: person } = useQuery(personQuery);
  const { workspaceId } = useParams({ strict: false }) as { workspaceId: string };
  const [theme, setTheme] = useState(chosenTheme);
  const [fault, setFault] = useState<unknown>();
  const choose = (value: string) => {
    applyTheme(value as Theme);
    setTheme(value as Theme);
  };
  return (
    <>
      <Fault error={fault} />
      <DropdownMenu.Root>
        <DropdownMenu.Trigger className="flex w-full items-center justify-between gap-2 rounded px-2 py-1.5 text-left hover:bg-raised">
          <span className="min-w-0">
            <span className="sr-only">Signed in as </span>
            <span className="block truncate">{person?.full_name ?? person?.email}</span>
          </span>
          <span aria-hidden="true">▴</span>
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content side="top" align="start" className={MENU}>
            <DropdownMenu.Label className="px-2 py-1 text-xs text-faint">{person?.email}</DropdownMenu.Label>
            <DropdownMenu.Item asChild>
              <Link
                to="/w/$workspaceId/account"
                params={{ workspaceId }}
                className={`${MENU_ITEM} text-text no-underline`}
              >
                <span className="w-4" aria-hidden="true" />
                Account
              </Link>
            </DropdownMenu.Item>
            <DropdownMenu.Separator className="my-1 h-px bg-line" />
            <DropdownMenu.Label className="px-2 py-1 text-xs text-faint">Colours</DropdownMenu.Label>
            <DropdownMenu.RadioGroup value={theme} onValueChange={choose}>
              {THEMES.map(({ value, label }) => (
                <DropdownMenu.RadioItem key={value} value={value} className={MENU_ITEM}>
                  <span className="w-4" aria-hidden="true">
                    {value === theme ? '✓' : ''}
                  </span>
                  {label}
                </DropdownMenu.RadioItem>
              ))}
            </DropdownMenu.RadioGroup>
            <DropdownMenu.Separator className="my-1 h-px bg-line" />
            <DropdownMenu.Item className={MENU_ITEM} onSelect={() => void signOut().catch(setFault)}>
              <span className="w-4" aria-hidden="true" />
              Sign out
            </DropdownMenu.Item>
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
    </>
  );
}
