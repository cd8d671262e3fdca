-- Keys for the data of a deployment that brings none itself, encrypted; null until a revision first needs them.
ALTER TABLE "deployment" ADD COLUMN "encrypted_keys" TEXT;
