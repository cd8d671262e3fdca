import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Dialog } from 'radix-ui';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { deploymentsQuery } from '../platform/deployments.ts';
import { useWorkspace, workspacesQuery } from '../session/session.ts';
import { PLACES } from './places.ts';

interface Command {
  id: string;
  label: string;
  run(): void;
}

/** Milliseconds within which a second key belongs to the first. */
const SEQUENCE_MS = 1_000;

/** Leads everywhere by the keyboard: ⌘K or Ctrl K opens it, `g` and a letter lead to a place. */
export function CommandMenu() {
  const [isOpen, setIsOpen] = useState(false);
  const navigate = useNavigate();
  const workspace = useWorkspace();
  useEffect(() => {
    let startedAt = 0;
    const onKey = (event: globalThis.KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        setIsOpen((isOpen) => !isOpen);
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      if (event.key === 'g') {
        startedAt = event.timeStamp;
        return;
      }
      const place = PLACES.find(({ key }) => key === event.key);
      if (!place || event.timeStamp - startedAt > SEQUENCE_MS) return;
      startedAt = 0;
      event.preventDefault();
      void navigate({ to: place.to, params: { workspaceId: workspace.id } });
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [navigate, workspace.id]);
  return (
    <Dialog.Root open={isOpen} onOpenChange={setIsOpen}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-[10vh] left-1/2 z-50 w-[min(36rem,94vw)] -translate-x-1/2 rounded border border-line bg-card p-2 shadow-lg"
        >
          <Dialog.Title className="sr-only">Go to</Dialog.Title>
          <Commands onDone={() => setIsOpen(false)} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Commands({ onDone }: { onDone: () => void }) {
  const list = useId();
  const commands = useCommands();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const words = text.toLowerCase().split(/\s+/);
  const found = commands.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)));
  const current = found[Math.min(chosen, found.length - 1)];
  const run = (command: Command | undefined) => {
    if (!command) return;
    onDone();
    command.run();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter') run(current);
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    const step = event.key === 'ArrowDown' ? 1 : -1;
    setChosen((chosen) => Math.max(0, Math.min(found.length - 1, chosen + step)));
  };
  return (
    <>
      <input
        // biome-ignore lint/a11y/noAutofocus: the dialog was opened to type into it
        autoFocus
        role="combobox"
        aria-label="Go to"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={current && `${list}-${current.id}`}
        placeholder="Go to …"
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setChosen(0);
        }}
        onKeyDown={onKey}
        className="w-full rounded border border-edge bg-card px-3 py-2"
      />
      <div id={list} role="listbox" aria-label="Places" className="mt-2 max-h-[50vh] overflow-auto">
        {found.map((command) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard is with the field above
          <div
            key={command.id}
            id={`${list}-${command.id}`}
            role="option"
            tabIndex={-1}
            aria-selected={command === current}
            onClick={() => run(command)}
            className="cursor-pointer rounded px-3 py-1.5 aria-selected:bg-chosen"
          >
            {command.label}
          </div>
        ))}
        {found.length === 0 && <p className="p-3 text-faint">Nothing of this name</p>}
      </div>
    </>
  );
}

function useCommands(): Command[] {
  const navigate = useNavigate();
  const { id: workspaceId } = useWorkspace();
  const { data: workspaces = [] } = useQuery(workspacesQuery);
  const { data: deployments = [] } = useQuery(deploymentsQuery(workspaceId));
  return [
    ...PLACES.map(({ to, label }) => ({ id: label, label, run: () => void navigate({ to, params: { workspaceId } }) })),
    ...deployments.flatMap(({ id, name }) => [
      {
        id: `deployment-${id}`,
        label: `Deployment ${name}`,
        run: () =>
          void navigate({ to: '/w/$workspaceId/deployments/$deploymentId', params: { workspaceId, deploymentId: id } }),
      },
      {
        id: `threads-${id}`,
        label: `Threads of ${name}`,
        run: () =>
          void navigate({
            to: '/w/$workspaceId/deployments/$deploymentId/threads',
            params: { workspaceId, deploymentId: id },
          }),
      },
    ]),
    ...workspaces
      .filter(({ id }) => id !== workspaceId)
      .map(({ id, display_name: name }) => ({
        id: `workspace-${id}`,
        label: `Workspace ${name}`,
        run: () => void navigate({ to: '/w/$workspaceId', params: { workspaceId: id } }),
      })),
  ];
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
