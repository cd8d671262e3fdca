import Type from 'typebox';

const SOURCE = ':|\\.[cm]?[jt]sx?$';

/** `graphs`: the graphs that the project serves. */
export const GraphsSection = Type.Record(
  Type.String({ minLength: 1 }),
  Type.Union([
    Type.String({ pattern: SOURCE }),
    Type.Object({ path: Type.String({ pattern: SOURCE }), description: Type.Optional(Type.String()) }),
  ]),
  {
    minProperties: 1,
    description:
      'The graphs by id: `"./file.ts:export"`, or `{"path", "description"}`. The export is a compiled graph, a `StateGraph`, an agent, a promise of these, or a function of the config that returns one. Without `:export` it is the default export. In Python: `"./file.py:name"` or `"package.module:name"`. All graphs are of one language.',
  },
);
