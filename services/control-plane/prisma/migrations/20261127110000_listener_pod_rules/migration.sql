-- What the operator of a listener's cluster lets deployments choose of their pods. Null: its data plane has not said.
ALTER TABLE "listener" ADD COLUMN "pod_rules" JSONB;
