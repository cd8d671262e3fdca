import type { Deployment } from '@runyard/contracts';

const OFTEN_MS = 5_000;
const SELDOM_MS = 30_000;
/** A roll-out may fail and leave its revision the latest for good, so that only a fresh one counts as under way. */
const ROLLOUT_MAX_MS = 900_000;

/** Returns how a deployment is called: as somebody named it later, or at its creation. */
export function nameOf({ name, display_name: displayName }: Pick<Deployment, 'name' | 'display_name'>): string {
  return displayName ?? name;
}

/** Returns whether something is on its way with a deployment, so that it is soon another. */
function isOnItsWay({ status, updated_at: at, ...deployment }: Deployment, now: number): boolean {
  if (status === 'UNUSED') return false;
  if (status !== 'READY') return true;
  return deployment.latest_revision_id !== deployment.active_revision_id && now - Date.parse(at) < ROLLOUT_MAX_MS;
}

/** Returns in how many milliseconds to ask for deployments again. */
export function refetchMs(deployments: readonly Deployment[] | undefined, now = Date.now()): number {
  return deployments?.some((deployment) => isOnItsWay(deployment, now)) ? OFTEN_MS : SELDOM_MS;
}

/** Returns the deployments of which the name contains the text, sorted by name. */
export function findDeployments(deployments: readonly Deployment[], text: string): Deployment[] {
  const wanted = text.trim().toLowerCase();
  return deployments
    .filter((deployment) => `${deployment.name} ${nameOf(deployment)}`.toLowerCase().includes(wanted))
    .sort((one, other) => nameOf(one).localeCompare(nameOf(other)));
}
