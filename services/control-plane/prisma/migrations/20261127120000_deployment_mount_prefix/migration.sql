-- The path that the active revision serves everything under, and of which revision that is known: the previous release makes
-- others active and leaves both as they are.
ALTER TABLE "deployment"
  ADD COLUMN "mount_prefix" TEXT,
  ADD COLUMN "mount_prefix_revision_id" UUID;
