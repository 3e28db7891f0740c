#!/bin/sh
# Runs before dpkg removes files of the package. In an upgrade, the service goes on.
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then systemctl --quiet disable --now gasm-watch.service; fi
