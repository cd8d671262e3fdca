import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Sealer, SealingError } from './sealer.ts';

const newKey = () => randomBytes(32).toString('base64');

describe('Sealer', () => {
  it('opens what it sealed, and shows nothing of it', () => {
    const sealer = new Sealer(newKey());
    const sealed = sealer.seal('päss wörd', 'deployment/1');
    expect(sealed).not.toContain('rd');
    expect(sealer.open(sealed, 'deployment/1')).toBe('päss wörd');
  });

  it('does not open a value that was moved to another place', () => {
    const sealer = new Sealer(newKey());
    expect(() => sealer.open(sealer.seal('x', 'deployment/1'), 'deployment/2')).toThrow(SealingError);
  });

  it('does not open a value that was changed', () => {
    const sealer = new Sealer(newKey());
    const sealed = sealer.seal('some value', 'here');
    const flipped = `${sealed.slice(0, -3)}${sealed.at(-3) === 'A' ? 'B' : 'A'}${sealed.slice(-2)}`;
    expect(() => sealer.open(flipped, 'here')).toThrow(SealingError);
  });

  it('opens values of an older key, and seals with the newest', () => {
    const [older, newer] = [newKey(), newKey()];
    const before = new Sealer(older).seal('x', 'here');
    const both = new Sealer(`${newer},${older}`);
    expect(both.open(before, 'here')).toBe('x');
    expect(() => new Sealer(older).open(both.seal('x', 'here'), 'here')).toThrow(/not configured/);
  });

  it.each(['', 'short', 'zz'.repeat(32)])('refuses the key %j', (key) => {
    expect(() => new Sealer(key)).toThrow(SealingError);
  });

  it('takes keys in hex too', () => {
    const sealer = new Sealer(randomBytes(32).toString('hex'));
    expect(sealer.open(sealer.seal('', 'here'), 'here')).toBe('');
  });
});
