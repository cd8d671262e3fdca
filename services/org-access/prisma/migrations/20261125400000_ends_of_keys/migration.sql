-- Which keys are over, and what other keys their accounts have.
CREATE INDEX "api_key_organization_id_identity_id_idx" ON "api_key"("organization_id", "identity_id");
CREATE INDEX "api_key_expires_at_idx" ON "api_key"("expires_at");
