import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { Time } from '../../components/time.tsx';
import { questionText } from './answer-shapes.ts';
import { type InboxItem, isOverdue } from './inbox-items.ts';

export interface InboxListProps {
  items: readonly InboxItem[];
  openKey: string | undefined;
  /** How the person who is signed in is called in assignments. */
  me: string | undefined;
}

/** The list of waiting threads. `j` and `k` or the arrows move through it, Enter opens a thread. */
export function InboxList({ items, openKey, me }: InboxListProps) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey) return;
      const steps: Record<string, number> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };
      const step = steps[event.key];
      const focused = document.activeElement;
      const isInList = list.current?.contains(focused) ?? false;
      // Elsewhere letters and arrows belong to what has the focus.
      if (step === undefined || !(isInList || focused === document.body || focused?.id === 'main')) return;
      if (!isInList && event.key.startsWith('Arrow')) return;
      const links = [...(list.current?.querySelectorAll<HTMLElement>('a') ?? [])];
      const current = links.indexOf(focused as HTMLElement);
      const from = current >= 0 ? current : links.findIndex((link) => link.ariaCurrent === 'true');
      links[Math.min(links.length - 1, Math.max(0, from + step))]?.focus();
      event.preventDefault();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  return (
    <ul ref={list} aria-label="Waiting threads" className="flex min-w-0 flex-col gap-1">
      {items.map((item) => (
        <li key={item.key}>
          <Link
            from="/w/$workspaceId/inbox"
            to="."
            search={({ mine }) => ({ mine, deployment: item.deploymentId, thread: item.threadId })}
            aria-current={item.key === openKey ? 'true' : undefined}
            activeOptions={{ exact: true, includeSearch: true }}
            activeProps={{}}
            className={`block rounded border p-3 text-text no-underline hover:bg-raised ${item.key === openKey ? 'border-action bg-chosen' : 'border-line bg-card'}`}
          >
            <span className="line-clamp-2 font-medium break-words">{titleOf(item)}</span>
            <span className="mt-1 flex flex-wrap gap-x-3 text-xs text-faint">
              <span>{item.deploymentName}</span>
              {item.graph && <span>{item.graph}</span>}
              <Time at={item.since} />
              {item.assignee && <span>{item.assignee === me ? 'Mine' : item.assignee}</span>}
              {item.due && (
                <span className={isOverdue(item, Date.now()) ? 'font-semibold text-fault' : ''}>
                  {isOverdue(item, Date.now()) ? '! Overdue ' : 'Due '}
                  <Time at={item.due} />
                </span>
              )}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** Returns what an item is called: its question, or where it has stopped. */
function titleOf({ questions, next, wasCancelled }: InboxItem): string {
  const [question] = questions;
  if (!question) return `${wasCancelled ? 'Cancelled' : 'Stopped'} before ${next.join(', ')}`;
  const text = questionText(question.value) ?? JSON.stringify(question.value)?.slice(0, 200) ?? 'A question';
  return questions.length > 1 ? `${text} (and ${questions.length - 1} more)` : text;
}
