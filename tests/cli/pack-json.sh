# JSON lines: each valid, the last one the summary, whatever happens.
. "$CASES/lib.sh"
m pack --json "$INPUTS/photos" -o photos.msd >lines
valid_json <lines
tail -n 1 lines | clean
m pack --json "$INPUTS/mixed" -o mixed.msd 2>/dev/null >lines
sed '$d' lines >messages # the last one is "exit 3"
valid_json <messages
tail -n 1 messages | grep -o '"message_type": "summary"\|"exit_code": [0-9]*\|"failed": [0-9]*'
grep -c '"message_type": "error"' messages
m pack --json "$INPUTS/mixed" -o mixed.msd --on-error=skip 2>/dev/null >lines
grep -c '"message_type": "skipped"' lines
grep -o '"exit_code": [0-9]*\|"skipped_reasons": {[^}]*}' lines
m pack --json -n "$INPUTS/photos" >lines
valid_json <lines
grep -o '"message_type": "[a-z]*"' lines | sort | uniq
