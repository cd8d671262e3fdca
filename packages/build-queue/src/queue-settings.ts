import Type from 'typebox';

/** Variables of the services at both ends of the queue. */
export const buildQueueVariables = {
  BUILD_QUEUE_PREFIX: Type.String({
    default: 'runyard',
    pattern: '^[A-Za-z0-9._-]+$',
    description: 'Before the keys of the queue, as `{runyard:builds}`; the same for control-plane and builders.',
  }),
};

export interface BuildQueueOptions {
  /** Redis URL. */
  redis: string;
  /** `BUILD_QUEUE_PREFIX`. */
  prefix: string;
  /** Is called when Redis cannot be reached or refuses. No action is needed. */
  onError: (error: Error) => void;
}

/** Returns BullMQ's own key prefix, in braces so that the queue's keys are in one slot of a cluster. */
export const keyPrefixOf = (prefix: string): string => `{${prefix}:builds}`;
