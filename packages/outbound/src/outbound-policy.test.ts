import { describe, expect, it } from 'vitest';
import { OutboundPolicy, OutboundRefusedError, type OutboundRules } from './index.ts';

const policy = (rules: Partial<OutboundRules> = {}) => new OutboundPolicy({ subject: 'Webhook', ...rules });
const verdict = (url: string, rules?: Partial<OutboundRules>) => {
  try {
    policy(rules).checkUrl(url);
    return 'fine';
  } catch (error) {
    if (!(error instanceof OutboundRefusedError)) throw error;
    return error.message;
  }
};

describe('hosts', () => {
  it.each([
    'http://localhost/x',
    'http://LocalHost.:8080/',
    'http://app.localhost',
    'http://host.docker.internal:2024/hook',
    'http://127.0.0.1/',
    'http://127.8.9.10:8000/',
    'http://127.1/',
    'http://0x7f.0.0.1/',
    'http://0177.0.0.1/',
    'http://2130706433/',
    'http://017700000001/',
    'http://①②⑦.⓪.⓪.①/',
    'http://127.0.0.1./',
    'http://0.0.0.0/',
    'http://0/',
    'http://[::]/',
    'http://[::1]:9000/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://%6c%6f%63%61%6c%68%6f%73%74/',
  ])('%s is this machine', (url) => {
    expect(verdict(url)).toBe('Webhook host blocked: localhost address');
  });

  it.each([
    ['http://10.1.2.3/', 'private'],
    ['http://172.16.0.1/', 'private'],
    ['http://192.168.1.1/', 'private'],
    ['http://0xc0.0xa8.1.1/', 'private'],
    ['http://100.64.0.1/', 'private'],
    ['http://[fd12:3456::1]/', 'private'],
    ['http://[fec0::1]/', 'private'],
    ['http://[::ffff:10.0.0.1]/', 'private'],
    ['http://[64:ff9b::a00:1]/', 'private'],
    ['http://169.254.1.1/', 'link-local'],
    ['http://[fe80::1]/', 'link-local'],
    ['http://169.254.169.254/latest/meta-data/', 'metadata'],
    ['http://[::ffff:a9fe:a9fe]/', 'metadata'],
    ['http://2852039166/', 'metadata'],
    ['http://168.63.129.16/', 'metadata'],
    ['http://100.100.100.200/', 'metadata'],
    ['http://[fd00:ec2::254]/', 'metadata'],
    ['http://metadata.google.internal/', 'metadata'],
    ['http://[::7f00:1]/', 'reserved'],
    ['http://[2002:7f00:1::]/', 'reserved'],
    ['http://[2001::1]/', 'reserved'],
    ['http://[64:ff9b:1::7f00:1]/', 'reserved'],
    ['http://[::ffff:0:127.0.0.1]/', 'reserved'],
    ['http://[ff02::1]/', 'reserved'],
    ['http://224.0.0.1/', 'reserved'],
    ['http://255.255.255.255/', 'reserved'],
    ['http://240.0.0.1/', 'reserved'],
    ['http://198.18.0.1/', 'reserved'],
  ])('%s is a %s address', (url, kind) => {
    expect(verdict(url)).toBe(`Webhook host blocked: ${kind} address`);
  });

  it.each(['https://example.com/hook?x=1', 'http://93.184.215.14:8080/', 'https://[2606:4700::1111]/'])(
    '%s is fine',
    (url) => {
      expect(verdict(url)).toBe('fine');
    },
  );

  it('networks that the operator names may be reached, and those alone', () => {
    const allowedNetworks = ['10.1.0.0/16', '127.0.0.1/32', 'fd00::/16'];
    expect(verdict('http://10.1.9.9/', { allowedNetworks })).toBe('fine');
    expect(verdict('http://[::ffff:10.1.9.9]/', { allowedNetworks })).toBe('fine');
    expect(verdict('http://10.2.0.1/', { allowedNetworks })).toMatch('private');
    // Its name may also mean `::1`.
    expect(verdict('http://localhost/', { allowedNetworks })).toMatch('localhost');
    expect(verdict('http://localhost/', { allowedNetworks: ['127.0.0.1/32', '::1/128'] })).toBe('fine');
    expect(verdict('http://127.0.0.2/', { allowedNetworks })).toMatch('localhost');
    expect(verdict('http://[::1]/', { allowedNetworks })).toMatch('localhost');
    expect(() => policy({ allowedNetworks: ['10.1'] })).toThrow('"10.1" is not a network like 10.0.0.0/8.');
  });

  it('this machine is permitted or forbidden as a whole when that is configured', () => {
    expect(verdict('http://localhost:1/', { loopback: true })).toBe('fine');
    expect(verdict('http://[::1]/', { loopback: true })).toBe('fine');
    expect(verdict('http://10.0.0.1/', { loopback: true })).toMatch('private');
    expect(verdict('http://127.0.0.1/', { loopback: false, allowedNetworks: ['127.0.0.0/8'] })).toMatch('localhost');
  });
});

describe('rules of the URL', () => {
  it.each([
    ['nonsense', 'Webhook URL is not valid'],
    ['http://', 'Webhook URL is not valid'],
    ['http://[fe80::1%25eth0]/', 'Webhook URL is not valid'],
    ['ftp://example.com/', 'Webhook URL must begin with https:// or http://'],
    ['file:///etc/passwd', 'Webhook URL must begin with https:// or http://'],
    ['javascript:alert(1)', 'Webhook URL must begin with https:// or http://'],
    ['https://user@example.com/', 'Webhook URL must not hold a user name or a password'],
    ['https://user:secret@example.com/', 'Webhook URL must not hold a user name or a password'],
    ['https://example.com\\@127.0.0.1/', 'fine'],
    ['https://example.com@127.0.0.1/', 'Webhook URL must not hold a user name or a password'],
  ])('%s: %s', (url, expected) => {
    expect(verdict(url)).toBe(expected);
  });

  it('permit https only, when that is required', () => {
    expect(verdict('http://example.com/', { requireHttps: true })).toBe('Webhook URL must begin with https://');
    expect(verdict('https://example.com/', { requireHttps: true })).toBe('fine');
  });

  it('let a wildcard stand for names below the domain, not for the domain itself', () => {
    const allowedDomains = ['*.example.com', 'Exact.org'];
    expect(verdict('https://a.example.com/', { allowedDomains })).toBe('fine');
    expect(verdict('https://a.b.example.com./', { allowedDomains })).toBe('fine');
    expect(verdict('https://EXACT.org/', { allowedDomains })).toBe('fine');
    for (const host of ['example.com', 'evilexample.com', 'example.com.evil.net', 'sub.exact.org', '93.184.215.14']) {
      expect(verdict(`https://${host}/`, { allowedDomains })).toBe(`Webhook host not allowed: ${host}`);
    }
  });

  it('do not permit the address of a permitted domain', () => {
    expect(verdict('http://localhost/', { allowedDomains: ['localhost'] })).toMatch('localhost address');
  });

  it('restrict ports, where a URL without one has that of its scheme', () => {
    const allowedPorts = [443, 8443];
    expect(verdict('https://example.com/', { allowedPorts })).toBe('fine');
    expect(verdict('https://example.com:8443/', { allowedPorts })).toBe('fine');
    expect(verdict('http://example.com/', { allowedPorts })).toBe('Webhook port not allowed: 80');
    expect(verdict('https://example.com:22/', { allowedPorts })).toBe('Webhook port not allowed: 22');
  });

  it('limit the length', () => {
    expect(verdict(`https://example.com/${'x'.repeat(100)}`, { maxUrlLength: 100 })).toBe(
      'Webhook URL is longer than 100 characters',
    );
  });
});
