/** States of errors of a deployment's database that no server has migrated yet, or only one of an earlier release. */
export const UNDEFINED_TABLE = '42P01';
export const UNDEFINED_COLUMN = '42703';
export const UNDEFINED_DATABASE = '3D000';
