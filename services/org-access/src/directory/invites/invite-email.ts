import type { Email } from '../email/email-outbox.ts';

/** Writes the email that invites a person. */
export function inviteEmail(invite: { to: string; link: string; expiresAt: Date; organizationName: string }): Email {
  const { to, link, expiresAt, organizationName } = invite;
  return {
    to,
    expiresAt,
    subject: `Invitation to ${organizationName}`,
    text: [
      `You are invited to join the organization ${organizationName}.`,
      `Accept here:\n${link}`,
      `The link works until ${expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC. It is yours alone: do not pass it on.`,
      'If you did not expect this, ignore this message.',
    ].join('\n\n'),
  };
}
