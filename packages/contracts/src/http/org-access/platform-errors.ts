import Type from 'typebox';
import { ErrorResponse } from '../common.ts';

/** The body of error answers of some operations below `/v1/platform`. */
export const PlatformErrorResponse = Type.Object({ error: Type.String() }, { $id: 'PlatformErrorResponse' });

/** The body of a refusal of the caller: the gateway, which knows no operation, refuses in the form of all others. */
export const PlatformRefusalResponse = Type.Union([PlatformErrorResponse, ErrorResponse], {
  $id: 'PlatformRefusalResponse',
});
