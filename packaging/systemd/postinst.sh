#!/bin/sh
# Runs after dpkg has installed the package. After an upgrade, a service that runs is started again.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart gasm-watch.service
fi
