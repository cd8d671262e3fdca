import { expect, it } from 'vitest';
import { domainRecordsOf } from './provider-addresses.ts';

it('only other organizations than the default one show by DNS that a domain is theirs', () => {
  expect(domainRecordsOf({ id: 'o1', default_sso_provision: true }, ['example.com'])).toEqual([]);
  expect(domainRecordsOf({ id: 'o1', default_sso_provision: false }, ['example.com'])).toEqual([
    { label: 'TXT record at _runyard-sso.example.com', value: 'runyard-sso=o1' },
  ]);
});
