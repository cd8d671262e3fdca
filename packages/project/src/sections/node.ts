import Type from 'typebox';
import { noEffect } from './no-effect.ts';

/** `node_version`: the Node.js version that the project asks for. */
export const NodeVersionSection = Type.Union([Type.String({ pattern: '^\\d+$' }), Type.Integer()], {
  description:
    'Major version of Node.js the project was written for. The platform runs every project on its own Node.js; another version is told at start.',
});

/** `node_loader`: a module loader of the project's own. */
export const NodeLoaderSection = noEffect(
  Type.String({ description: 'A module loader to run the project with.' }),
  'projects are always loaded with tsx',
);
