import Type from 'typebox';

/** The body of error answers of some operations below `/v1/platform`. */
export const PlatformErrorResponse = Type.Object({ error: Type.String() }, { $id: 'PlatformErrorResponse' });
