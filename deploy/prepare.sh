#!/bin/sh
# Write what compose.yaml needs: the host name to deploy/.env and, unless they are there, a token and a certificate of our own
# to deploy/secrets.
#   sh deploy/prepare.sh [NAME]
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
echo "PSSA_HOST=${1:-localhost}" > .env
[ -e secrets/token ] || openssl rand -hex 16 > secrets/token
[ -e secrets/fullchain.pem ] || openssl req -x509 -newkey rsa:2048 -nodes -days 365 -subj "/CN=${1:-localhost}" \
    -addext "subjectAltName=DNS:${1:-localhost}" -keyout secrets/privkey.pem -out secrets/fullchain.pem 2> /dev/null
chmod 700 secrets
chmod 644 secrets/token secrets/fullchain.pem  # the service's user reads the token; nobody else enters the folder
chmod 600 secrets/privkey.pem
echo "deploy/secrets has the token and the certificate of ${1:-localhost}"
