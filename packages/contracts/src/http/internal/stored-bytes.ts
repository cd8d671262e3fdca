import Type, { type Static } from 'typebox';

const Bytes = Type.Integer({ minimum: 0 });

/** Bytes that are stored for a deployment, for all of its workspace, and for all of the platform. */
export const StoredBytes = Type.Object(
  { deployment: Bytes, workspace: Bytes, platform: Bytes },
  { $id: 'StoredBytes' },
);
export type StoredBytes = Static<typeof StoredBytes>;
