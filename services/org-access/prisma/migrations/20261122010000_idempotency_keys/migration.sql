-- Requests that create something and may come again (packages/database, idempotency).
CREATE TABLE "idempotency_key" (
    "id" BYTEA NOT NULL,
    "request_digest" BYTEA NOT NULL,
    "claim" UUID NOT NULL,
    "answer" BYTEA,
    "claimed_at" TIMESTAMPTZ NOT NULL,
    "expires_at" TIMESTAMPTZ NOT NULL,

    CONSTRAINT "idempotency_key_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "idempotency_key_expires_at_idx" ON "idempotency_key"("expires_at");
