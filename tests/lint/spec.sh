#!/bin/sh
# spec/ against the code and the vectors: offsets of its tables are those of layout.h, numbers those of types.h; each member of
# its tables has a vector that must be refused; each vector is listed.
cd "${srcdir:-$(dirname "$0")/../..}" || exit 99
LC_ALL=C
export LC_ALL
n=0
report() { # description, offending lines
    n=$((n + 1))
    if [ -n "$2" ]; then
        echo "not ok $n - $1"
        echo "$2" | sed 's/^/# /'
    else
        echo "ok $n - $1"
    fi
}

# Rows of the tables of a page, below a heading whose text matches: the cells, separated by "|" without blanks around.
rows() { # page, heading
    awk -v heading="$2" '
        /^#/ { inside = ($0 ~ "^#+ " heading "$") ; next }
        inside && /^\|/ && !/^\|[-: |]*$/ { gsub(/\\\|/, "/"); gsub(/ *\| */, "|"); sub(/^\|/, ""); sub(/\|$/, ""); print }' "spec/$1"
}
# Of the table with a column "member": "member|allowed" and for tables of bytes "offset|size|member|allowed".
layout_rows() { # heading
    rows shard.md "$1" | awk -F'|' '$1 == "offset" { on = 1; next } $1 !~ /^[0-9]+$/ { on = 0 } on { print $1 "|" $2 "|" $4 "|" $5 }'
}
json_members() { # heading
    rows manifest.md "$1" | awk -F'|' '$1 == "member" { on = 1; next } on { k = split($1, m, ", "); for (i = 1; i <= k; i++) print m[i] "|" $3 }'
}

check_table() { # heading, struct, whole size
    layout_rows "$1" | awk -F'|' -v whole="$3" -v name="$1" '
        $1 != at { print name ": " $3 " is at " $1 ", the members before end at " at } { at = $1 + $2 }
        END { if (at != whole) print name ": members end at " at + 0 ", expected " whole }'
    sed -n "s/^_Static_assert(offsetof(struct $2, \([a-z_0-9]*\)) == \([0-9]*\),.*/\1 \2/p" libformat/src/format/layout.h |
        while read -r member offset; do
            found=$(layout_rows "$1" | awk -F'|' -v m="$member" '$3 == m { print $1 }')
            [ "$found" = "$offset" ] || echo "$member: layout.h says $offset, spec/shard.md says $found"
        done
    grep -q "sizeof(struct $2) == $3 " libformat/src/format/layout.h || echo "layout.h does not say that struct $2 has $3 bytes"
}
report "offsets of spec/shard.md are those of layout.h" "$(
    check_table 'Header' mshi_disk_header 128
    check_table 'Field table' mshi_disk_field 160
    check_table 'Section table' mshi_disk_section 32)"

covered() { # prefix; lines "member|allowed" on stdin
    while IFS='|' read -r member allowed; do
        [ "$allowed" = any ] && continue
        grep -q "\"member\": \"$1$member\"" spec/vectors/invalid/expected.json || echo "$1$member"
    done
}
count() { layout_rows "$1" | wc -l; }
report "tables of spec/shard.md are found" "$(
    [ "$(count Header)" -eq 18 ] || echo "header: $(count Header) rows, expected 18"
    [ "$(count 'Field table')" -eq 10 ] || echo "field table: $(count 'Field table') rows, expected 10"
    [ "$(count 'Section table')" -eq 5 ] || echo "section table: $(count 'Section table') rows, expected 5"
    [ "$(json_members 'dataset.json' | wc -l)" -eq 13 ] || echo "dataset.json: $(json_members 'dataset.json' | wc -l) rows, expected 13")"
report "each member of a shard's tables has a vector that must be refused" "$(
    layout_rows Header | cut -d'|' -f3- | covered header.
    layout_rows 'Field table' | cut -d'|' -f3- | covered field.
    layout_rows 'Section table' | cut -d'|' -f3- | covered section.)"
report "each member of dataset.json has a vector that must be refused" "$(
    json_members dataset.json | covered manifest.
    json_members fields | covered manifest.fields.
    json_members shards | covered manifest.shards.
    json_members keys | covered manifest.keys.)"

report "each vector that must be refused is listed, and the reverse" "$(
    {
        sed -n 's/^ {"name": "\([^"]*\)".*/\1/p' spec/vectors/invalid/expected.json
        ls spec/vectors/invalid | sed -n 's/\.hex$//p'
    } | sort | uniq -c | awk '$1 != 2 { print $2 }')"
report "each vector that must read has its values" "$(
    ls spec/vectors/valid | sed 's/\..*//' | uniq -c | awk '$1 != 2 { print $2 }')"

numbers() { # heading, prefix in types.h
    rows dtypes.md "$1" | awk -F'|' '$1 ~ /^[0-9]+$/ { print $2, $1 }' | while read -r name number; do
        upper=$(echo "$name" | tr '[:lower:]' '[:upper:]')
        grep -q "^ *MSHARD_$2$upper = $number," libformat/include/mshard/types.h || echo "$name is not $number in types.h"
    done
    stated=$(rows dtypes.md "$1" | grep -c '^[0-9]')
    known=$(sed -n "/^typedef enum mshard_$3 /,/^}/p" libformat/include/mshard/types.h | grep -c ' = [0-9]')
    [ "$stated" -eq "$known" ] || echo "$1: $stated in spec/dtypes.md, $known in types.h"
}
report "dtypes and contents of spec/dtypes.md are those of types.h" "$(numbers Dtypes '' dtype; numbers Content CONTENT_ content)"

report "links between the pages of spec/ lead somewhere" "$(
    for page in spec/*.md spec/*/*.md; do
        grep -o '](\([^):#]*\))' "$page" | sed 's/^](//; s/)$//' | while read -r link; do
            [ -e "$(dirname "$page")/$link" ] || echo "$page: $link"
        done
    done)"
echo "1..$n"
exit 0
