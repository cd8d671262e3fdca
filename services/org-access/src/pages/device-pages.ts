import { devicePages } from '@runyard/contracts';
import { BadRequestError, type BoundOperation, type Reply } from '@runyard/service-kit';
import { audited } from '../audit/audit-trail.ts';
import type { Database } from '../database/database.ts';
import type { DeviceAuthorization } from '../generated/client.ts';
import { programName } from '../programs/oauth/clients.ts';
import { answerDevice, findUnansweredDevice } from '../programs/oauth/device-authorizations.ts';
import type { AttemptLimit } from '../sign-in/accounts/attempt-limit.ts';
import { recordForSession } from '../sign-in/sessions/record-for-session.ts';
import { bindPage, orShowAgain } from './bind-page.ts';
import { html } from './html.ts';
import { field, hidden, showPage, submit } from './layout.ts';
import type { PageVisitors, Visitor } from './page-visitors.ts';

interface DevicePageParts {
  database: Database;
  visitors: PageVisitors;
  limit: AttemptLimit;
}

/** The page on which a person lets a program act for them. */
export function devicePageRoutes(parts: DevicePageParts): BoundOperation[] {
  const { visitors, database, limit } = parts;
  return [
    bindPage(devicePages.show, async ({ query, headers }) =>
      showEntry(await visitors.require(headers), { userCode: query.user_code }),
    ),
    bindPage(devicePages.answer, async ({ body, headers }) =>
      visitors.change(headers, body.csrf, (visitor) => {
        const { user_code: userCode = '', answer } = body;
        return orShowAgain(
          async () => {
            await limit.take('userCode', visitor.personId, null);
            const found = await findUnansweredDevice(database.prisma, userCode);
            if (!found) throw unknownCode();
            await limit.takeBack('userCode', visitor.personId);
            if (answer === undefined) return showQuestion(visitor, found, userCode);
            return answerQuestion(parts, visitor, { userCode, isAllowed: answer === 'accept' });
          },
          async (fault) => showEntry(visitor, { userCode, fault }),
        );
      }),
    ),
  ];
}

function showEntry({ csrf }: Visitor, { userCode, fault }: { userCode?: string | undefined; fault?: string }): Reply {
  return showPage({
    title: 'Let a program act for you',
    fault,
    body: html`<p>Enter the code that the program shows. Nobody else should have given it to you.</p>
<form method="post" action="/auth/device">${hidden('csrf', csrf)}
${field({ name: 'user_code', label: 'Code', autocomplete: 'off', value: userCode })}${submit('Continue')}</form>`,
  });
}

function showQuestion(visitor: Visitor, asked: DeviceAuthorization, userCode: string): Reply {
  const fields = html`${hidden('csrf', visitor.csrf)}${hidden('user_code', userCode)}`;
  return showPage({
    title: `Let ${programName(asked.clientId)} act for you?`,
    body: html`<p>It will be able to do what you can do, except to change your account and your other sessions,
until you end its session. Personal tokens that it makes end with the session; service keys stay.
Refuse if you have not just begun this sign-in yourself.</p>
<p>Code <strong>${userCode.toUpperCase()}</strong>, asked from ${asked.address ?? 'an unknown address'}
at <time datetime="${asked.createdAt.toISOString()}">${asked.createdAt.toISOString().slice(11, 16)} UTC</time>${
      asked.userAgent !== null && html`, by ${asked.userAgent}`
    }.</p>
<form method="post" action="/auth/device">${fields}${hidden('answer', 'accept')}${submit('Allow')}</form>
<form method="post" action="/auth/device">${fields}${hidden('answer', 'refuse')}${submit('Refuse', { isSecond: true })}</form>`,
  });
}

async function answerQuestion(
  { database }: DevicePageParts,
  { session }: Visitor,
  { userCode, isAllowed }: { userCode: string; isAllowed: boolean },
): Promise<Reply> {
  const answered = await database.transact(
    audited(async (transaction, audit) => {
      const device = await answerDevice(transaction, userCode, isAllowed ? session.id : null);
      if (!device) throw unknownCode();
      await recordForSession(transaction, audit, session, {
        action: isAllowed ? 'program.allowed' : 'program.refused',
        resourceType: 'person',
        resourceId: session.personId,
        details: { client_id: device.clientId, address: device.address },
      });
      return device;
    }),
  );
  const name = programName(answered.clientId);
  return showPage({
    title: isAllowed ? `${name} may act for you` : `${name} may not act for you`,
    body: html`<p>You can close this window${isAllowed && ' and go back to the program'}.
<a href="/auth/account">Your sessions</a></p>`,
  });
}

function unknownCode(): BadRequestError {
  return new BadRequestError('There is no such code, or it has expired: begin again in the program', {
    code: 'link_expired',
  });
}
