import { Command, JsonObject, MultitaskStrategy, RunConfig, RunCreateStateful } from '@runyard/contracts';
import Type from 'typebox';
import { paramsReader } from './protocol-response.ts';

const Namespace = Type.Array(Type.String());

/** Parameters of `run.start`: the fields of a run that are not about its stream and its thread. */
export const readRunStart = paramsReader(
  Type.Object({
    ...RunCreateStateful.properties,
    on_completion: Type.Optional(Type.Union([Type.Literal('delete'), Type.Literal('keep')])),
  }),
);
/** Returns whether parameters of `run.start` ask for a run without a thread of its own that is kept. */
export function isStateless({ on_completion }: { on_completion?: unknown }): boolean {
  return on_completion === 'delete';
}

/** Clients name the strategy otherwise than runs do; words that are none count as left out. */
export const MULTITASK_STRATEGIES: readonly string[] = MultitaskStrategy.enum;

const Answer = Type.Object({ interrupt_id: Type.String(), response: Type.Optional(Type.Unknown()) });
const respondFields = {
  namespace: Type.Optional(Namespace),
  update: Command.properties.update,
  goto: Command.properties.goto,
  config: Type.Optional(RunConfig),
  metadata: Type.Optional(JsonObject),
};
export const readInputRespond = paramsReader(Type.Object({ ...Answer.properties, ...respondFields }));
export const readInputsRespond = paramsReader(
  Type.Object({ responses: Type.Array(Answer, { minItems: 1 }), ...respondFields }),
);

export const readStateFork = paramsReader(
  Type.Object({
    checkpoint_id: Type.String({ minLength: 1 }),
    input: Type.Optional(Type.Unknown()),
    config: Type.Optional(RunConfig),
  }),
);

export const readStateGet = paramsReader(
  Type.Object({ namespace: Type.Optional(Namespace), keys: Type.Optional(Type.Array(Type.String())) }),
);

export const readListCheckpoints = paramsReader(
  Type.Object({
    namespace: Type.Optional(Namespace),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
    before: Type.Optional(Type.String()),
  }),
);

export const readGetTree = paramsReader(Type.Object({ run_id: Type.Optional(Type.String()) }));
