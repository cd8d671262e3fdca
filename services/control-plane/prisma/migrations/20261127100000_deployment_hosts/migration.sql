-- The host name that a deployment's `custom_url` gives it at the gateway. The previous release leaves it as it is.
ALTER TABLE "deployment" ADD COLUMN "custom_host" TEXT;
CREATE UNIQUE INDEX "deployment_custom_host_key" ON "deployment" ("custom_host");
