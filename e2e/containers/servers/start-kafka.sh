#!/bin/bash
# Starts Kafka as the image apache/kafka does: the variable KAFKA_A_B is the property a.b.
set -eu
properties=/tmp/server.properties
for name in $(compgen -e KAFKA_); do
  key=${name#KAFKA_}
  key=${key,,}
  printf '%s=%s\n' "${key//_/.}" "${!name}"
done >"$properties"
java -cp '/opt/kafka/libs/*' kafka.tools.StorageTool format --ignore-formatted \
  --cluster-id UnVueWFyZExvY2FsS2Fma2E --config "$properties"
exec java -Xmx256m -cp '/opt/kafka/libs/*' kafka.Kafka "$properties"
