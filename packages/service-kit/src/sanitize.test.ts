import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { sanitizeErrorText } from './sanitize.ts';

describe('an error text for callers', () => {
  it.each([
    ['connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED [host]'],
    ['getaddrinfo ENOTFOUND redis', 'getaddrinfo ENOTFOUND [host]'],
    ['connect ECONNREFUSED ::1:5432', 'connect ECONNREFUSED [host]'],
    ['connect ETIMEDOUT 203.0.113.7:443', 'connect ETIMEDOUT [host]'],
    ['getaddrinfo ENOTFOUND redis-1', 'getaddrinfo ENOTFOUND [host]'],
    ['getaddrinfo EAI_AGAIN db.acme.internal', 'getaddrinfo EAI_AGAIN [host]'],
    ['getaddrinfo ENOTFOUND api.default.svc.cluster.local', 'getaddrinfo ENOTFOUND [host]'],
    ['getaddrinfo ENOTFOUND localhost', 'getaddrinfo ENOTFOUND [host]'],
    ['getaddrinfo ENOTFOUND redis.default', 'getaddrinfo ENOTFOUND [host]'],
    ['no route to 10.1.2.3', 'no route to [host]'],
    ['192.168.0.1:80 and 172.20.0.5', '[host] and [host]'],
    ['could not connect to postgres://app:pw@db.internal:5432/app?x=1 today', 'could not connect to [redacted] today'],
    ['host=db port=5432 user=app password=pw dbname=x failed', '[redacted] failed'],
    ['fetch http://minio:9000/bucket failed', 'fetch http://[host]/bucket failed'],
    ['api.default.svc.cluster.local:8080 is away', '[host] is away'],
    ['http://localhost:3000/x said no', 'http://[host]/x said no'],
    ['used sk-abcdefgh12345678', 'used [redacted]'],
    ['fd12:3456:789a::1 unreachable', '[host] unreachable'],
    ['no answer from redis-master:6379', 'no answer from [host]'],
    ['dial tcp postgres:5432: i/o timeout', 'dial tcp [host]: i/o timeout'],
    ['broker kafka-0:9092 (id 1) is gone', 'broker [host] (id 1) is gone'],
    ['cannot connect with host=db', 'cannot connect with host=[host]'],
    ["failed: { host: 'db', port: 5432 }", "failed: { host: '[host]', port: 5432 }"],
    ['{"hostname":"db01","code":"X"}', '{"hostname":"[host]","code":"X"}'],
    ['bootstrap.servers=kafka-0:9092,kafka-1:9092 timed out', 'bootstrap.servers=[host],[host] timed out'],
    ['login failed: Server=db01;Database=app;User Id=sa;Password=pw', 'login failed: [redacted]'],
    ['login failed for Server=db01', 'login failed for Server=[host]'],
    ['Data Source=tcp:db01,1433;Initial Catalog=app;', '[redacted]'],
    ['14 UNAVAILABLE: grpc://x:50051', '14 UNAVAILABLE: grpc://[host]'],
    ['ftp://files/in.csv is missing', 'ftp://[host]/in.csv is missing'],
    ['vault.prod.acme.intra refused it', '[host] refused it'],
    ['billing.service.consul and db.acme.private', '[host] and [host]'],
  ])('%s', (text, sanitized) => {
    expect(sanitizeErrorText(text)).toBe(sanitized);
  });

  it.each([
    "TypeError: Cannot read properties of undefined (reading 'name')",
    'Recursion limit of 25 reached without hitting a stop condition.',
    'fetch https://api.example.com/v1/chat failed with 429',
    'getaddrinfo ENOTFOUND api.example.com',
    'request to https://registry.example.org/hono failed, reason: getaddrinfo EAI_AGAIN registry.example.org',
    'connect ETIMEDOUT api.example.com:443 (fetch)',
    'langgraph 1.0.10.2 and 127 items in 10.5 s',
    'Invalid update for channel "messages" at 12:30:45',
    'std::vector is not json::value',
    'at run (file:///app/agent.js:12:5)',
    'at Module.run (agent.ts:1234:5)',
    'status:404 after step:12',
    'see https://docs.example.com:8443/errors?code=5432',
    'The server is busy, host not found',
    'node:internal/modules/cjs/loader:1143',
    'model gpt-4o:2024-08-06 is away',
  ])('keeps the error: %s', (text) => {
    expect(sanitizeErrorText(text)).toBe(text);
  });

  it('does not name the machine', () => {
    if (hostname().length >= 4) expect(sanitizeErrorText(`failed on ${hostname()}`)).toBe('failed on [host]');
  });
});
