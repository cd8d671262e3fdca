import type { LogEntry } from '@runyard/contracts';
import { useRouter } from '@tanstack/react-router';
import { type MouseEvent, useCallback } from 'react';
import type { LogLink } from '../../../components/log-view-row.tsx';
import { useWorkspace } from '../../../session/session.ts';

/**
 * Returns what leads from a line of a log to the run that printed it, or to its thread. A plain link: hundreds of them
 * come and go while somebody scrolls, and the router's own would be most of the work then.
 */
export function useRunLink(deploymentId: string): (entry: LogEntry) => LogLink | undefined {
  const { id: workspaceId } = useWorkspace();
  const { history } = useRouter();
  return useCallback(
    ({ thread_id: threadId, run_id: runId }) => {
      if (threadId === undefined) return undefined;
      const thread = `/w/${workspaceId}/deployments/${deploymentId}/threads/${threadId}`;
      const href = runId === undefined ? thread : `${thread}/runs/${runId}`;
      const onClick = (event: MouseEvent) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        history.push(href);
      };
      return runId === undefined
        ? { href, text: 'thread', label: `thread ${threadId}`, onClick }
        : { href, text: 'run', label: `run ${runId}`, onClick };
    },
    [workspaceId, deploymentId, history],
  );
}
