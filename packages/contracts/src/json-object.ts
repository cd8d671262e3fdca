import Type from 'typebox';

/** Any JSON object. */
export const JsonObject = Type.Record(Type.String(), Type.Unknown());
