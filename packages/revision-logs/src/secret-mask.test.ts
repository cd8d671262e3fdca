import { describe, expect, it } from 'vitest';
import { secretMask } from './secret-mask.ts';

describe('the values of secrets', () => {
  it.each([
    ['in plain text', 'key=sk-12345/6+7.', 'sk-12345/6+7'],
    ['with characters of regular expressions', 'a(b[c]*d)?^$ is it', 'a(b[c]*d)?^$'],
    ['in JSON', JSON.stringify({ key: 'pass"word\\é\tx' }), 'pass"word\\é\tx'],
    ['in JSON in JSON', JSON.stringify({ key: JSON.stringify({ key: 'a"b\\c\nd/e' }) }), 'a"b\\c\nd/e'],
    ['in JSON that escapes more than it must', '{"key":"caf\\u00e9 cr\\u00C8me\\/x"}', 'café crÈme/x'],
    ['of several lines, line by line', '-- first-line-of-key', 'BEGIN KEY\nfirst-line-of-key\nsecond-line'],
    ['of several lines, as one', 'x BEGIN KEY\nfirst-line\n', 'BEGIN KEY\nfirst-line\n'],
    ['of many thousand characters', `<${'0123456"89'.repeat(6_000)}>`, '0123456"89'.repeat(6_000)],
  ])('are masked %s', (_, text, value) => {
    const masked = secretMask([value])(text);
    expect(masked).toContain('***');
    for (const part of value.split('\n').filter((each) => each.length >= 6)) expect(masked).not.toContain(part);
    expect(masked).not.toContain(JSON.stringify(value).slice(1, -1));
  });

  it('are masked as a whole where one contains another', () => {
    expect(secretMask(['secret', 'secret-of-two'])('secret-of-two, secret')).toBe('***, ***');
  });

  it('are not masked when they are short, because ordinary text contains such words', () => {
    expect(secretMask(['true', '12345', ''])('true 12345')).toBe('true 12345');
  });

  it('cost no more in lines that are crafted to be slow', () => {
    const mask = secretMask(['\\"\\"\\"\\"', `${'\\'.repeat(40)}x`]);
    const before = process.cpuUsage();
    mask('\\'.repeat(200_000));
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(2_000);
  });

  it('are masked even when they are long, many and overlap', () => {
    const values = Array.from({ length: 500 }, (_, index) => `${index}-${'v'.repeat(900 + index)}-${index}`);
    expect(secretMask(values)(`<${values[77]}>`)).toBe('<***>');
    const long = Array.from({ length: 700 }, (_, index) => String(index)).join(' ');
    expect(secretMask([long])(`<${long}> <${long}>`)).toBe('<***> <***>');
  });
});
