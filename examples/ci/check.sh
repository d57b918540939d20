#!/bin/sh
# Checks the configurations below a folder and tells by the exit code what there is to do: 0 roll them out, 1 do
# not, 2 something is wrong with the check itself. Usage: check.sh [FOLDER]
folder=${1:-deploy}

scalwsctl config validate "$folder"
case $? in
0) ;;
5) # problems, which were shown
	exit 1 ;;
*) exit 2 ;;
esac

# Warnings do not stop a daemon, but somebody should look at them.
if ! scalwsctl config validate --warnings-as-errors "$folder" >/dev/null 2>&1; then
	echo "there are warnings in $folder" >&2
fi
