import Type from 'typebox';
import { ErrorResponse } from '../../common.ts';

/** The number of a data plane's connection. A newer connection makes all older ones invalid. */
export const Epoch = Type.Integer({ minimum: 1 });

export const dataPlaneTags = ['data planes (v2)'];
export const staleEpochResponse = {
  description: 'Another connection of a data plane holds the lease.',
  schema: ErrorResponse,
  example: { detail: 'Another data plane holds the lease of listener 0192f7a0-0000-7000-8000-000000000021.' },
};
