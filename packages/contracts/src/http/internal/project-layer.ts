import Type, { type Static } from 'typebox';

const digest = Type.String({ pattern: '^sha256:[0-9a-f]{64}$', maxLength: 71 });

/** A project that a builder has pushed to its deployment's repository, as a layer of an image. */
export const ProjectLayer = Type.Object(
  {
    digest,
    size: Type.Integer({ minimum: 0 }),
    /** The digest of its uncompressed content. */
    diff_id: digest,
    /** By which the image describes the project. */
    variables: Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 65_536 })),
    /** Variables of the project that tune the platform's services. */
    settings: Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 4_096 })),
  },
  { $id: 'ProjectLayer' },
);
export type ProjectLayer = Static<typeof ProjectLayer>;
