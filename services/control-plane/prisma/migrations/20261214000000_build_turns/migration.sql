-- Builds wait here for their turn: the queue has the next one of each organization.
ALTER TABLE "revision" ADD COLUMN "awaiting_builder_since" TIMESTAMPTZ(3);

CREATE INDEX "revision_awaiting_builder" ON "revision" ("awaiting_builder_since") WHERE "awaiting_builder_since" IS NOT NULL;
CREATE INDEX "revision_being_built" ON "revision" ("build_reported_at") WHERE "build_reported_at" IS NOT NULL;
