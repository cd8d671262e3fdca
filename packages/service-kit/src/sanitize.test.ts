import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { sanitizeErrorText } from './sanitize.ts';

describe('an error text fit to be shown outside', () => {
  it.each([
    ['connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED [host]'],
    ['getaddrinfo ENOTFOUND redis', 'getaddrinfo ENOTFOUND [host]'],
    ['connect ECONNREFUSED ::1:5432', 'connect ECONNREFUSED [host]'],
    ['no route to 10.1.2.3', 'no route to [host]'],
    ['192.168.0.1:80 and 172.20.0.5', '[host] and [host]'],
    ['could not connect to postgres://app:pw@db.internal:5432/app?x=1 today', 'could not connect to [redacted] today'],
    ['host=db port=5432 user=app password=pw dbname=x failed', '[redacted] failed'],
    ['fetch http://minio:9000/bucket failed', 'fetch http://[host]/bucket failed'],
    ['api.default.svc.cluster.local:8080 is away', '[host] is away'],
    ['http://localhost:3000/x said no', 'http://[host]/x said no'],
    ['used sk-abcdefgh12345678', 'used [redacted]'],
    ['fd12:3456:789a::1 unreachable', '[host] unreachable'],
  ])('%s', (text, sanitized) => {
    expect(sanitizeErrorText(text)).toBe(sanitized);
  });

  it.each([
    "TypeError: Cannot read properties of undefined (reading 'name')",
    'Recursion limit of 25 reached without hitting a stop condition.',
    'fetch https://api.example.com/v1/chat failed with 429',
    'langgraph 1.0.10.2 and 127 items in 10.5 s',
    'Invalid update for channel "messages" at 12:30:45',
    'std::vector is not json::value',
  ])('keeps what went wrong: %s', (text) => {
    expect(sanitizeErrorText(text)).toBe(text);
  });

  it('does not name the machine', () => {
    if (hostname().length >= 4) expect(sanitizeErrorText(`failed on ${hostname()}`)).toBe('failed on [host]');
  });
});
