/*
 * stats_state.c - an accumulator as JSON text and back, without loss
 *
 * Numbers that may pass 2^63, and doubles (by their bits), are strings of hex digits.
 */
#include "format/stats_parts.h"

#include "base/alloc.h"
#include "base/buf.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void save_hex(struct mshi_buf *json, const char *name, const uint64_t *words, unsigned count)
{
    mshi_buf_printf(json, "\"%s\": \"", name);
    for (unsigned i = 0; i < count; i++)
        mshi_buf_printf(json, "%016" PRIx64, words[i]);
    mshi_buf_text(json, "\"");
}

static void save_exact(struct mshi_buf *json, const struct mshi_exact *exact)
{
    const mshi_u128 sum = (mshi_u128)exact->sum;
    const uint64_t squares[3] = {exact->carry, (uint64_t)(exact->squares >> 64), (uint64_t)exact->squares};

    mshi_buf_text(json, "{");
    save_hex(json, "sum", (const uint64_t[]){(uint64_t)(sum >> 64), (uint64_t)sum}, 2);
    mshi_buf_text(json, ", ");
    save_hex(json, "squares", squares, 3);
    mshi_buf_text(json, ", ");
    save_hex(json, "low", &exact->low, 1);
    mshi_buf_text(json, ", ");
    save_hex(json, "high", &exact->high, 1);
    mshi_buf_text(json, "}");
}

static void save_double(struct mshi_buf *json, const char *name, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    mshi_buf_text(json, ", ");
    save_hex(json, name, &bits, 1);
}

static void save_moments(struct mshi_buf *json, const struct mshi_moments *m)
{
    mshi_buf_printf(json, "{\"count\": %" PRIu64, m->count);
    save_double(json, "sum", m->sum);
    save_double(json, "rest", m->rest);
    save_double(json, "deviations", m->deviations);
    save_double(json, "low", m->low);
    save_double(json, "high", m->high);
    mshi_buf_text(json, "}");
}

void mshi_stats_save(const struct mshi_stats *stats, struct mshi_buf *json)
{
    mshi_buf_printf(json,
                    "{\"dtype\": \"%s\", \"records\": %" PRIu64 ", \"elements\": %" PRIu64 ", \"nan\": %" PRIu64
                    ", \"inf\": %" PRIu64 ", \"min_size\": %" PRIu64 ", \"max_size\": %" PRIu64 ", \"channels\": [",
                    mshard_dtype_name(stats->dtype), stats->records, stats->elements, stats->nan, stats->inf,
                    stats->min_size, stats->max_size);
    for (uint32_t c = 0; c < stats->channels && stats->figures; c++) {
        mshi_buf_text(json, c ? ", " : "");
        if (stats->floating) {
            const struct mshi_moments m = mshi_stats_moments(stats, c);
            save_moments(json, &m);
        } else {
            save_exact(json, &stats->exact[c]);
        }
    }
    mshi_buf_text(json, "]");
    if (stats->counting) {
        mshi_buf_text(json, ", \"counts\": [");
        for (uint64_t i = 0; i < stats->count_length; i++)
            mshi_buf_printf(json, "%s%" PRIu64, i ? ", " : "", stats->counts[i]);
        mshi_buf_text(json, "]");
    }
    mshi_buf_text(json, "}");
}

static bool load_hex(const mshi_json *object, const char *name, uint64_t *words, unsigned count)
{
    size_t size = 0;
    const char *text = mshi_json_string(mshi_json_member(object, name), &size);

    if (!text || size != 16 * (size_t)count)
        return false;
    for (size_t i = 0; i < size; i++) {
        const char c = text[i];
        uint64_t digit;

        if (c >= '0' && c <= '9')
            digit = (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (uint64_t)(c - 'a') + 10;
        else
            return false;
        words[i / 16] = words[i / 16] << 4 | digit;
    }
    return true;
}

static bool load_double(const mshi_json *object, const char *name, double *value)
{
    uint64_t bits = 0;

    if (!load_hex(object, name, &bits, 1))
        return false;
    memcpy(value, &bits, sizeof(bits));
    return true;
}

static bool load_exact(const mshi_json *object, struct mshi_exact *exact)
{
    uint64_t sum[2] = {0}, squares[3] = {0}, low = 0, high = 0;

    if (!load_hex(object, "sum", sum, 2) || !load_hex(object, "squares", squares, 3) ||
        !load_hex(object, "low", &low, 1) || !load_hex(object, "high", &high, 1))
        return false;
    *exact = (struct mshi_exact){
        .sum = (mshi_i128)((mshi_u128)sum[0] << 64 | sum[1]),
        .squares = (mshi_u128)squares[1] << 64 | squares[2],
        .carry = squares[0],
        .low = low,
        .high = high,
    };
    return true;
}

static bool load_moments(const mshi_json *object, uint64_t elements, struct mshi_moments *m)
{
    return mshi_json_uint(mshi_json_member(object, "count"), &m->count) && m->count <= elements &&
           load_double(object, "sum", &m->sum) && load_double(object, "rest", &m->rest) &&
           load_double(object, "deviations", &m->deviations) && load_double(object, "low", &m->low) &&
           load_double(object, "high", &m->high) && isfinite(m->low) && isfinite(m->high);
}

/* The counts must be as many as there are records: each label is one. */
static bool load_counts(const mshi_json *list, struct mshi_stats *stats, mshard_status *status, mshard_error *err)
{
    const size_t length = mshi_json_count(list);
    uint64_t total = 0;

    if (mshi_json_kind(list) != MSHI_JSON_ARRAY || length > MSHI_STATS_CLASSES)
        return false;
    *status = mshi_grow(&stats->counts, &stats->count_capacity, length, sizeof(*stats->counts), err);
    if (*status != MSHARD_OK)
        return true;
    for (size_t i = 0; i < length; i++) {
        if (!mshi_json_uint(mshi_json_at(list, i), &stats->counts[i]) || stats->counts[i] > stats->records - total)
            return false;
        total += stats->counts[i];
    }
    stats->count_length = length;
    return total == stats->records;
}

static bool load_all(const mshi_json *node, struct mshi_stats *stats, mshard_status *status, mshard_error *err)
{
    const char *dtype = mshi_json_string(mshi_json_member(node, "dtype"), NULL);
    const mshi_json *channels = mshi_json_member(node, "channels");
    const mshi_json *counts = mshi_json_member(node, "counts");

    if (!dtype || strcmp(dtype, mshard_dtype_name(stats->dtype)) != 0 ||
        !mshi_json_uint(mshi_json_member(node, "records"), &stats->records) ||
        !mshi_json_uint(mshi_json_member(node, "elements"), &stats->elements) ||
        !mshi_json_uint(mshi_json_member(node, "nan"), &stats->nan) ||
        !mshi_json_uint(mshi_json_member(node, "inf"), &stats->inf) ||
        !mshi_json_uint(mshi_json_member(node, "min_size"), &stats->min_size) ||
        !mshi_json_uint(mshi_json_member(node, "max_size"), &stats->max_size) || stats->elements % stats->channels ||
        mshi_json_count(channels) != (stats->figures ? stats->channels : 0))
        return false;
    for (uint32_t c = 0; c < mshi_json_count(channels); c++) {
        const mshi_json *one = mshi_json_at(channels, c);

        if (stats->floating ? !load_moments(one, stats->elements, &stats->moments[c])
                            : !load_exact(one, &stats->exact[c]))
            return false;
    }
    if (stats->counting && counts)
        return load_counts(counts, stats, status, err);
    stats->counting = false;
    return true;
}

mshard_status mshi_stats_load(const mshi_json *node, const mshard_field *field, const char *path,
                              struct mshi_stats **stats, mshard_error *err)
{
    struct mshi_stats *s;
    mshard_status status = MSHARD_OK;

    *stats = NULL;
    MSHI_TRY(mshi_stats_new(field, &s, err));
    if (!load_all(node, s, &status, err))
        status = mshi_fail(err, MSHARD_E_CORRUPT, path, MSHARD_NO_OFFSET,
                           "saved figures of field \"%s\" expected, found something else", field->name);
    if (status != MSHARD_OK) {
        mshi_stats_free(s);
        return status;
    }
    *stats = s;
    return MSHARD_OK;
}
