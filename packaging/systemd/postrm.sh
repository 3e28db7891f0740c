#!/bin/sh
# Runs after dpkg has removed files of the package. "purge" also removes what the service has written.
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
if [ "$1" = purge ]; then
  for folder in /var/lib /var/cache; do
    rm -rf "$folder/private/gasm"
    if [ -L "$folder/gasm" ]; then rm "$folder/gasm"; fi # DynamicUser's link to the folder
  done
fi
