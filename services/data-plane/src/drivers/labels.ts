/** Labels that name the deployment of a container or an object, so that what is left behind is found. */
export const LABELS = {
  deployment: 'io.runyard.deployment',
  revision: 'io.runyard.revision',
  part: 'io.runyard.part',
  /** The process that started the container. */
  leaseOwner: 'io.runyard.holder',
} as const;
