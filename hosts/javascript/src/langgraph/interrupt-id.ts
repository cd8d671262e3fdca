/**
 * Gives interrupts of lines before 0.4 the id that later lines have. Those lines say where an interrupt was raised
 * (`ns`); from 0.3.6 on they also have the id, as `interrupt_id`.
 */
import { createHash } from 'node:crypto';

interface RaisedInterrupt {
  id?: string;
  interrupt_id?: string;
  ns?: string[];
}

/** Returns whether the interrupt was stored without an `id`, by a line that names the place of an interrupt instead. */
export function isWithoutId(interrupt: unknown): interrupt is RaisedInterrupt & { ns: string[] } {
  if (typeof interrupt !== 'object' || interrupt === null) return false;
  const { id, ns } = interrupt as RaisedInterrupt;
  return id === undefined && Array.isArray(ns);
}

export function idOfInterrupt(interrupt: RaisedInterrupt & { ns: string[] }): string {
  const derive = () => createHash('sha256').update(interrupt.ns.join('|')).digest('hex').slice(0, 32);
  return interrupt.interrupt_id ?? derive();
}

export function withId(interrupt: unknown): unknown {
  return isWithoutId(interrupt) ? { id: idOfInterrupt(interrupt), ...interrupt } : interrupt;
}

export function withIds(interrupts: unknown): unknown[] {
  return Array.isArray(interrupts) ? interrupts.map(withId) : [];
}
