-- Builders ask for their orders: the newest one counts, and what is never ended is given up.
ALTER TABLE "revision"
  ADD COLUMN "build_epoch" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "unfinished_builds" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "build_reported_at" TIMESTAMPTZ(3);
