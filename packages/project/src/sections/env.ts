import Type from 'typebox';

/** `env`: variables for the project's code. */
export const EnvSection = Type.Union(
  [Type.String({ minLength: 1 }), Type.Record(Type.String(), Type.String()), Type.Array(Type.String())],
  {
    description:
      "Variables of the project's code: the path of a dotenv file, an object, or an array of names that the deployment must set (a missing one is told at start). What the deployment sets wins.",
  },
);
