-- How much of a deployment may be used in an hour, a day or a month. What is used of it the deployment's own database has.
CREATE TABLE "budget" (
  "id" UUID PRIMARY KEY,
  "deployment_id" UUID NOT NULL REFERENCES "deployment" ("id") ON DELETE CASCADE,
  "name" TEXT NOT NULL,
  "subject" TEXT NOT NULL,
  "subject_id" TEXT,
  "period" TEXT NOT NULL,
  "tokens_max" BIGINT,
  "runs_max" BIGINT,
  "mode" TEXT NOT NULL,
  "refusal_status" INTEGER NOT NULL,
  "created_by" UUID NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now()
);
CREATE INDEX "budget_deployment_id_idx" ON "budget" ("deployment_id");

ALTER TABLE "deployment"
  ADD COLUMN "budgets_version" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "budgets_reached_version" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "budgets_message" TEXT;
