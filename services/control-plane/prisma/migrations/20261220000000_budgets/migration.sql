-- How much of a deployment, or of all in a workspace, may be used in an hour, a day or a month. What is used of it the deployments'
-- own databases have, and run-history has what several of them use together.
CREATE TABLE "budget" (
  "id" UUID PRIMARY KEY,
  "organization_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "deployment_id" UUID REFERENCES "deployment" ("id") ON DELETE CASCADE,
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
CREATE INDEX "budget_workspace_id_idx" ON "budget" ("workspace_id");

-- Who has used a budget of a workspace up, in all its deployments together, in the period that is told of last.
CREATE TABLE "exhausted_budget" (
  "budget_id" UUID NOT NULL REFERENCES "budget" ("id") ON DELETE CASCADE,
  "subject_id" TEXT NOT NULL,
  "start" TIMESTAMPTZ(3) NOT NULL,
  "measure" TEXT NOT NULL,
  PRIMARY KEY ("budget_id", "subject_id")
);

ALTER TABLE "deployment"
  ADD COLUMN "budgets_version" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "budgets_reached_version" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "budgets_message" TEXT;
