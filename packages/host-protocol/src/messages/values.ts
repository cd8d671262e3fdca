/** Forms that several messages have, and names for what may be any JSON. */
import Type, { type Static } from 'typebox';
import { form } from './message.ts';

/** A value of the project's own code or clients: any JSON, which only the project understands. */
export const ProjectValue = form('ProjectValue', Type.Unknown({ description: 'any JSON' }));

/** An object of the project's own code or clients, with keys that only the project understands. */
export const ProjectFields = form('ProjectFields', Type.Record(Type.String(), ProjectValue));

/** A JSON Schema, as LangGraph or the source of the project has it. */
export const JsonSchema = form(
  'JsonSchema',
  Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Boolean()], {
    description: '`true` describes anything, `false` nothing.',
  }),
);

export const ValueRef = form(
  'ValueRef',
  Type.Tuple([Type.String(), Type.Integer({ minimum: 0 })], { description: 'type and byte length of a value' }),
);
/** A value as `[type, byte length]`. */
export type ValueRef = Static<typeof ValueRef>;

export const ProjectExport = form(
  'ProjectExport',
  Type.Object({
    file: Type.String({ description: 'Absolute path of the source file; empty where `module` is there.' }),
    module: Type.Optional(Type.String({ description: 'Dotted name of a module of Python, in place of a file.' })),
    symbol: Type.String({ description: 'Name of the export.' }),
  }),
);
/** An export of a file or module of the project. */
export type ProjectExport = Static<typeof ProjectExport>;

export const Headers = form(
  'Headers',
  Type.Array(Type.Tuple([Type.String(), Type.String()]), {
    description: 'names and values; a name may occur more than once',
  }),
);
