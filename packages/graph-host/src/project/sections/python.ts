import Type, { type TSchema } from 'typebox';
import { noEffect } from './no-effect.ts';

const python = (description: string): TSchema => noEffect(Type.Unknown({ description }), 'it is for Python projects');

/**
 * Keys of Python projects. Their values are not checked: their presence usually means that the wrong file was copied.
 */
export const pythonSections: Record<string, TSchema> = {
  dependencies: python('Python packages.'),
  source: python('How Python packages are found.'),
  pip_config_file: python('Settings of pip.'),
  pip_installer: python('Which installer is used.'),
  keep_pkg_tools: python('Whether pip and the like stay in the image.'),
  python_version: python('Version of Python.'),
};
