/*
 * dump_record.c - the values of one record: small ones whole, large ones summarized
 */
#include "dump.h"

#include "export.h"
#include "values.h"

#include <string.h>
#include <unistd.h>

enum { SMALL = 64, FEW = 6 };

static uint64_t elements(const mshard_view *view, mshard_dtype dtype)
{
    return view->size / mshard_dtype_size(dtype);
}

static void print_summary(const mshard_view *view, mshard_dtype dtype)
{
    const uint64_t n = elements(view, dtype);
    const struct value_summary s = values_summary(view->data, n, dtype);
    char a[TEXT_SIZE], b[TEXT_SIZE], c[TEXT_SIZE];

    out("min %s  max %s  mean %s", text_real(a, s.min), text_real(b, s.max), text_real(c, s.mean));
    if (s.nan > 0)
        out("  nan %s", text_count(a, s.nan));
    if (s.inf > 0)
        out("  inf %s", text_count(a, s.inf));
    out("\n    [");
    for (uint64_t i = 0; i < FEW; i++)
        out("%s, ", value_text(a, view->data, i, dtype));
    out("...");
    for (uint64_t i = n - FEW; i < n; i++)
        out(", %s", value_text(a, view->data, i, dtype));
    out("]\n");
}

static void print_value(const mshard_store *store, uint64_t record, uint32_t f, const mshard_view *view,
                        const uint64_t *shape, bool full)
{
    const mshard_field *field = mshard_store_field(store, f);
    int64_t number;
    const char *name;

    if (field->content == MSHARD_CONTENT_TEXT) {
        const size_t shown = full || view->size <= 400 ? view->size : 400;
        out_escaped(view->data, shown);
        out(shown < view->size ? " ...\n" : "\n");
    } else if (field->content == MSHARD_CONTENT_ENCODED && !full) {
        const char *type = export_image_type(view->data, view->size);
        out("%s", type != NULL ? type : "unknown type");
        for (size_t i = 0; i < 16 && i < view->size; i++)
            out("%s%02x", i == 0 ? ": " : " ", ((const uint8_t *)view->data)[i]);
        out(view->size > 16 ? " ...\n" : "\n");
    } else if (field->content == MSHARD_CONTENT_LABEL && field->ndim == 0 &&
               target_class(store, record, f, &number, &name)) {
        out("%lld", (long long)number);
        if (name != NULL) {
            out(" (");
            out_name(name);
            out(")");
        }
        out("\n");
    } else if (view->size == 0) {
        out("empty\n");
    } else if (full || elements(view, field->dtype) <= SMALL) {
        if (field->ndim > 1)
            out("\n");
        values_print(view->data, field->dtype, shape, field->ndim);
    } else {
        print_summary(view, field->dtype);
    }
}

static void json_value(const mshard_store *store, uint64_t record, uint32_t f, const mshard_view *view,
                       const uint64_t *shape)
{
    const mshard_field *field = mshard_store_field(store, f);
    int64_t number;
    const char *name;

    json_open(NULL, '{');
    json_field(field);
    json_shape("value_shape", shape, field->ndim);
    json_count("bytes", view->size);
    if (field->content == MSHARD_CONTENT_TEXT)
        json_text("value", view->data, view->size);
    else
        values_json("value", view->data, field->dtype, shape, field->ndim);
    if (field->content == MSHARD_CONTENT_LABEL && field->ndim == 0 && target_class(store, record, f, &number, &name) &&
        name != NULL)
        json_string("class", name);
    json_close();
}

static void print_lead(const mshard_store *store, uint64_t record, const char *shard, uint64_t index)
{
    mshard_view key;

    out_style(OUT_BOLD);
    out("record %llu", (unsigned long long)record);
    out_style(OUT_PLAIN);
    out("  ");
    out_name(shard);
    out("[%llu]", (unsigned long long)index);
    if (mshard_store_has_keys(store) && mshard_store_key(store, record, &key, NULL) == MSHARD_OK) {
        out("  key ");
        out_escaped(key.data, key.size);
    }
    out("\n");
}

int dump_record(const struct target *target, const char *path, uint64_t record, uint32_t only, bool full, bool json)
{
    const mshard_store *store = target->store;
    uint64_t shard, index, shape[MSHARD_MAX_DIMS];
    mshard_shard_info info;
    mshard_view view;
    mshard_error err;
    char text[256], size[TEXT_SIZE];
    mshard_status status = mshard_store_locate(store, record, &shard, &index, &err);

    if (status == MSHARD_E_RANGE) {
        say("%s: no record %llu (it has %llu)", path, (unsigned long long)record,
            (unsigned long long)mshard_store_count(store));
        return TOOL_NO;
    }
    if (status == MSHARD_OK)
        status = mshard_store_open_shard(store, shard, &err);
    if (status != MSHARD_OK)
        return target_error(path, &err);
    mshard_store_shard(store, shard, &info);
    if (json) {
        json_begin(false);
        json_open(NULL, '{');
        json_string("schema", "mshard.dump.record/1");
        json_count("record", record);
        json_string("shard", info.name);
        json_count("index", index);
        json_open("fields", '[');
    } else {
        print_lead(store, record, info.name, index);
    }
    for (uint32_t f = 0; f < target_fields(store); f++) {
        const mshard_field *field = mshard_store_field(store, f);
        if (only != UINT32_MAX && only != f)
            continue;
        status = mshard_store_record(store, record, f, &view, &err);
        if (status == MSHARD_OK)
            status = mshard_store_shape(store, record, f, shape, &err);
        if (status != MSHARD_OK)
            break;
        if (json) {
            json_value(store, record, f, &view, shape);
            continue;
        }
        out("  ");
        out_name(field->name);
        out("  %s %s  %s  ", mshard_dtype_name(field->dtype), text_shape(text, shape, field->ndim),
            text_bytes(size, view.size));
        print_value(store, record, f, &view, shape, full);
    }
    if (json) {
        json_close();
        json_close();
    }
    return status == MSHARD_OK ? TOOL_DONE : target_error(path, &err);
}
