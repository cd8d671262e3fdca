import Type from 'typebox';
import { noEffect } from './no-effect.ts';

const NOT_BUNDLED = 'user interface components are not bundled or served';

/** `ui`, `ui_config`: components a chat page may load. */
export const uiSections = {
  ui: noEffect(
    Type.Record(Type.String(), Type.String(), { description: 'User interface components by name.' }),
    NOT_BUNDLED,
  ),
  ui_config: noEffect(
    Type.Object(
      { shared: Type.Optional(Type.Array(Type.String(), { description: 'Modules all components share.' })) },
      { description: 'How the components are bundled.' },
    ),
    NOT_BUNDLED,
  ),
};
