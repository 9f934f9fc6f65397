/*
 * read_records.c - open a data set and read every record without a copy
 *
 *     cc read_records.c $(pkg-config --cflags --libs libmshard) -o read_records && ./read_records train.msd
 */
#include <inttypes.h>
#include <mshard/mshard.h>
#include <stdio.h>

static int fail(const mshard_error *err)
{
    char text[1200];

    mshard_error_format(err, text, sizeof text);
    fprintf(stderr, "read_records: %s\n", text);
    return 3;
}

int main(int argc, char **argv)
{
    mshard_error err;
    mshard_store *store;
    uint32_t image, label;

    if (argc != 2) {
        fprintf(stderr, "usage: read_records DATASET\n");
        return 2;
    }
    if (mshard_store_open(argv[1], NULL, &store, &err) != MSHARD_OK)
        return fail(&err);
    if (mshard_store_find_field(store, "image", &image, &err) != MSHARD_OK ||
        mshard_store_find_field(store, "label", &label, &err) != MSHARD_OK) {
        mshard_store_unref(store);
        return fail(&err);
    }

    uint64_t n = mshard_store_count(store), sum = 0;
    int64_t last = -1;
    for (uint64_t i = 0; i < n; i++) {
        mshard_view pixels, number; /* pointers into the page cache: nothing is copied, nothing to free */

        if (mshard_store_record(store, i, image, &pixels, &err) != MSHARD_OK ||
            mshard_store_record(store, i, label, &number, &err) != MSHARD_OK) {
            mshard_store_unref(store);
            return fail(&err);
        }
        for (size_t b = 0; b < pixels.size; b++)
            sum += ((const uint8_t *)pixels.data)[b];
        last = *(const int64_t *)number.data;
    }
    printf("%" PRIu64 " records, sum of all pixels %" PRIu64 ", last label %" PRId64, n, sum, last);
    const char *name = last < 0 ? NULL : mshard_store_class_name(store, label, (uint64_t)last);
    printf(" (%s)\n", name ? name : "no name");
    mshard_store_unref(store);
    return 0;
}
