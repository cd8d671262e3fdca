import { describe, expect, it } from 'vitest';
import { redactFields, redactText } from './redaction.ts';

describe('secrets in text', () => {
  it.each([
    ['connect postgres://user:pa55@db.example:5432/x failed', 'connect postgres://[redacted]@db.example:5432/x failed'],
    ['Invalid URL postgres://u:pa/5@5@db:5432/x', 'Invalid URL postgres://[redacted]@db:5432/x'],
    ['redis://:pa55@h:6379', 'redis://[redacted]@h:6379'],
    ['Authorization: Bearer abcdefgh12345678', 'Authorization: Bearer [redacted]'],
    ['key lsv2_sk_0123456789abcdef_0123456789 is bad', 'key [redacted] is bad'],
    ['session rys_0123456789-abcdef_XYZ is bad', 'session [redacted] is bad'],
    ['deployment rdt_0123456789-abcdef_XYZ is bad', 'deployment [redacted] is bad'],
    ['OPENAI_API_KEY=sk-abcdefgh12345678', 'OPENAI_API_KEY=[redacted]'],
    ['KAFKA_SASL_PASSWORD=hunter22 and more', 'KAFKA_SASL_PASSWORD=[redacted] and more'],
    ['{"password":"hunter22"}', '{"password":"[redacted]"}'],
    ['jwt eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl end', 'jwt [redacted] end'],
    ['ghp_abcdefghij0123456789', '[redacted]'],
  ])('%s', (text, masked) => {
    expect(redactText(text)).toBe(masked);
  });

  it.each([
    'thread 0199f0a4 has 3 tokens left',
    'https://example.com/a@b?x=1',
    'the key is missing',
    'run finished in 12 ms',
  ])('are not found in harmless text: %s', (text) => {
    expect(redactText(text)).toBe(text);
  });
});

describe('secrets in fields', () => {
  it('are masked by the name of the field', () => {
    expect(
      redactFields({
        authorization: 'Bearer x',
        'X-Api-Key': 'abc',
        apiKey: 'abc',
        DATABASE_URI: 'postgres://h/x',
        accessToken: 'abc',
        cookie: ['a=1'],
        nested: [{ client_secret: 'abc' }],
        key_id: '0a6c',
        tokens: 15,
        token_count: 3,
        passwordChanged: true,
      }),
    ).toEqual({
      authorization: '[redacted]',
      'X-Api-Key': '[redacted]',
      apiKey: '[redacted]',
      DATABASE_URI: '[redacted]',
      accessToken: '[redacted]',
      cookie: '[redacted]',
      nested: [{ client_secret: '[redacted]' }],
      key_id: '0a6c',
      tokens: 15,
      token_count: 3,
      passwordChanged: true,
    });
  });

  it('are masked inside errors and their causes', () => {
    const error = new Error('cannot connect to postgres://u:secret1@h/d', { cause: new Error('token=abcdef') });
    const text = JSON.stringify(redactFields({ error }));
    expect(text).not.toMatch(/secret1|abcdef/);
    expect(text).toContain('cannot connect to postgres://[redacted]@h/d');
  });

  it('survive cycles, depth, bytes and big numbers', () => {
    const loop: Record<string, unknown> = { bytes: Buffer.alloc(10), big: 10n, at: new Date(0) };
    loop.self = loop;
    expect(JSON.stringify(redactFields(loop))).toContain('[deeper]');
    expect(redactFields(loop)).toMatchObject({ bytes: '[10 bytes]', big: '10', at: '1970-01-01T00:00:00.000Z' });
  });
});
