import { expect, it } from 'vitest';
import { HostnameChecker, type Lookup, OutboundPolicy } from './index.ts';
import { limitLookups } from './system-lookup.ts';

const policy = new OutboundPolicy({ subject: 'Webhook' });
const REFUSAL = 'Webhook host blocked: the name has no address that may be reached';

it.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', 'fd00::1'])(
  'a name that means %s is reported without that, and the resolver is asked once',
  async (address) => {
    let questions = 0;
    const lookup: Lookup = (_host, _options, callback) => {
      questions += 1;
      callback(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
    };
    const names = new HostnameChecker(policy, { lookup });
    const checked = Array.from({ length: 5 }, () => names.check(new URL('https://sly.test/')));
    for (const check of checked) await expect(check).rejects.toThrow(REFUSAL);
    expect(questions).toBe(1);
  },
);

it('a name that does not exist is refused with the text for names that mean addresses inside', async () => {
  const lookup: Lookup = (_host, _options, callback) =>
    callback(Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' }), []);
  const names = new HostnameChecker(policy, { lookup });
  await expect(names.check(new URL('https://gone.test/'))).rejects.toThrow(REFUSAL);
});

it('a name passes when the resolver is unavailable or takes too long, and when it is public', async () => {
  const lookup: Lookup = (host, _options, callback) => {
    if (host === 'away.test') callback(Object.assign(new Error('EAI_AGAIN'), { code: 'EAI_AGAIN' }), []);
    if (host === 'fine.test') callback(null, [{ address: '93.184.215.14', family: 4 }]);
  };
  const names = new HostnameChecker(policy, { lookup, timeoutMs: 10, maxNames: 1 });
  for (const host of ['away.test', 'fine.test', 'slow.test']) await names.check(new URL(`https://${host}/`));
});

it('queries beyond the limit wait in line', () => {
  const asked = new Map<string, () => void>();
  const answered: string[] = [];
  const lookup = limitLookups((host, _options, callback) => asked.set(host, () => callback(null, [])), 2);
  for (const host of ['a', 'b', 'c']) lookup(host, { all: true }, () => answered.push(host));
  expect([...asked.keys()]).toEqual(['a', 'b']);
  asked.get('b')!();
  expect([...asked.keys()]).toEqual(['a', 'b', 'c']);
  asked.get('c')!();
  asked.get('a')!();
  expect(answered).toEqual(['b', 'c', 'a']);
});
