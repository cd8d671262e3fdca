import type { Assistant, Deployment } from '@runyard/contracts';
import { canRun } from '../../platform/deployments.ts';

/** The deployment and assistant that somebody talked with last in a workspace. */
export interface LastChosen {
  deployment?: string;
  assistant?: string;
}

const keyOf = (workspaceId: string) => `chat:${workspaceId}`;

export function lastChosen(workspaceId: string): LastChosen {
  try {
    return (JSON.parse(window.localStorage.getItem(keyOf(workspaceId)) ?? '{}') ?? {}) as LastChosen;
  } catch {
    return {};
  }
}

export function keepChosen(workspaceId: string, chosen: LastChosen): void {
  window.localStorage.setItem(keyOf(workspaceId), JSON.stringify(chosen));
}

/** Returns the deployment to talk with: the one asked for, the last one, or the first that answers. */
export function chooseDeployment(
  deployments: readonly Deployment[],
  asked: string | undefined,
  last: LastChosen,
): Deployment | undefined {
  const named = deployments.find(({ id }) => id === asked);
  if (named) return named;
  const running = deployments.filter(canRun);
  return running.find(({ id }) => id === last.deployment) ?? running[0] ?? deployments[0];
}

/** Returns the assistant to talk with: the one asked for, that of the thread, the last one, or the first. */
export function chooseAssistant(
  assistants: readonly Assistant[],
  asked: string | undefined,
  last: LastChosen,
): Assistant | undefined {
  return (
    assistants.find(({ assistant_id: id }) => id === asked) ??
    assistants.find(({ assistant_id: id }) => id === last.assistant) ??
    assistants[0]
  );
}
