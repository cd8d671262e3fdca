import { ConflictError, NotFoundError } from '@runyard/service-kit';

export const memberNotFound = () => new NotFoundError('Member not found');

/** @param emails of people who have an identity in the organization, which may be disabled */
export const alreadyMembers = (emails: readonly string[]) =>
  new ConflictError(
    emails.length === 1 ? `${emails[0]} is a member already` : `These are members already: ${emails.join(', ')}`,
    { code: 'already_member', headers: { 'x-should-retry': 'false' } },
  );
