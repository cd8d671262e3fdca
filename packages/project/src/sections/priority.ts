import Type from 'typebox';
import { noEffect } from './no-effect.ts';

/** `priority`: the function of a Python project that gives runs their priorities. */
export const PrioritySection = noEffect(
  Type.Object({ path: Type.Optional(Type.String({ description: 'The function that gives a run its priority.' })) }),
  'runs have no priorities here, and start in the order in which they came',
);
