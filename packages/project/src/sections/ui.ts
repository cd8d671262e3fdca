import Type, { type Static } from 'typebox';

/** `ui`: components that pages load with the answers of a graph. */
export const UiSection = Type.Record(Type.String(), Type.String({ minLength: 1 }), {
  description:
    'User interface components by graph, or by a namespace that pages name: `"./file.tsx"`, whose default export is an object of React components by name. Bundled at start, and given to pages by `/ui/{agent}`.',
});

/** `ui_config`: options of bundling the components. */
export const UiConfigSection = Type.Object(
  {
    shared: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description:
          'Modules left out of the bundles: the page gives its own copy with `experimental_loadShare`. `react`, `react-dom` and `@langchain/langgraph-sdk` always are.',
      }),
    ),
  },
  { description: 'How the components of `ui` are bundled.' },
);
export type UiConfigSection = Static<typeof UiConfigSection>;
