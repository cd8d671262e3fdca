import Type, { type TSchema } from 'typebox';
import { FOR_PYTHON, noEffect } from './no-effect.ts';

const pythonKey = (description: string): TSchema => noEffect(Type.Unknown({ description }), FOR_PYTHON);

/**
 * Keys of Python projects. Their values are not checked: their presence usually means that the wrong file was copied.
 */
export const pythonSections: Record<string, TSchema> = {
  source: pythonKey('How Python packages are found.'),
  pip_config_file: pythonKey('Settings of pip.'),
  pip_installer: pythonKey('Which installer is used.'),
  keep_pkg_tools: pythonKey('Whether pip and the like stay in the image.'),
  python_version: pythonKey('Version of Python.'),
};
