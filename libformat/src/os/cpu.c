/*
 * cpu.c - how many CPUs this process may use
 *
 * The smaller of the affinity mask and the CPU quotas of the process's control group and all groups above it
 * (version 2: cpu.max; version 1: cpu.cfs_quota_us and cpu.cfs_period_us). In a container the group's path may
 * not exist below the mount, so the mount's root is always asked too. What cannot be read sets no limit.
 */
#include "os/thread.h"

#include "os/file.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t affinity_count(void)
{
    for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)cpus);
        const size_t size = CPU_ALLOC_SIZE((size_t)cpus);

        if (!set)
            break;
        if (sched_getaffinity(0, size, set) == 0) {
            const int n = CPU_COUNT_S(size, set);
            CPU_FREE(set);
            return n > 0 ? (uint32_t)n : 1;
        }
        CPU_FREE(set);
    }
    return 1;
}

/* The text of root/group/name; NULL when it cannot be read. The caller frees. */
static char *read_setting(const char *root, const char *group, const char *name)
{
    char path[4096];
    char *text;
    size_t size;
    const int n = snprintf(path, sizeof(path), "%s/%s/%s", root, group, name);

    if (n < 0 || (size_t)n >= sizeof(path) || mshi_file_slurp(path, 4096, &text, &size, NULL) != MSHARD_OK)
        return NULL;
    return text;
}

/* CPUs that quota time in period time means, rounded up; 0: no limit. */
static uint32_t cpus_of(int64_t quota, int64_t period)
{
    if (quota <= 0 || period <= 0)
        return 0;
    const int64_t cpus = quota / period + (quota % period != 0);
    return cpus > UINT32_MAX ? 0 : (uint32_t)cpus;
}

static uint32_t quota_of_group(const char *root, const char *group, bool version2)
{
    int64_t quota = -1, period = -1;
    char *text = read_setting(root, group, version2 ? "cpu.max" : "cpu.cfs_quota_us");

    if (!text)
        return 0;
    if (version2) {
        if (sscanf(text, "%" SCNd64 " %" SCNd64, &quota, &period) != 2) /* "max 100000": no limit */
            quota = -1;
    } else {
        char *period_text = read_setting(root, group, "cpu.cfs_period_us");

        quota = strtoll(text, NULL, 10);
        period = period_text ? strtoll(period_text, NULL, 10) : -1;
        free(period_text);
    }
    free(text);
    return cpus_of(quota, period);
}

/* The smallest quota of group and all above it; cuts group up. */
static uint32_t quota_of_path(const char *root, char *group, bool version2)
{
    uint32_t least = 0;

    for (;;) {
        const uint32_t cpus = quota_of_group(root, group, version2);
        char *slash = strrchr(group, '/');

        if (cpus && (!least || cpus < least))
            least = cpus;
        if (!group[0])
            return least;
        *(slash ? slash : group) = '\0';
    }
}

static bool lists_cpu(const char *controllers)
{
    for (const char *c = controllers; *c; c += strcspn(c, ","), c += *c == ',')
        if (strcspn(c, ",") == 3 && memcmp(c, "cpu", 3) == 0)
            return true;
    return false;
}

/* Lines of the list are "number:controllers:/group"; version 2 is number 0 without controllers. */
uint32_t mshi_cpu_quota(const char *group_list, const char *mounts)
{
    uint32_t least = 0;
    char *text, *rest, *line, root[1024];
    size_t size;

    if (mshi_file_slurp(group_list, 65536, &text, &size, NULL) != MSHARD_OK)
        return 0;
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;

        if (!group)
            continue;
        *group++ = '\0';
        controllers++;
        group += *group == '/';
        const bool version2 = controllers[0] == '\0';
        if (!version2 && !lists_cpu(controllers))
            continue;
        const int n = snprintf(root, sizeof(root), version2 ? "%s" : "%s/%s", mounts, controllers);
        if (n < 0 || (size_t)n >= sizeof(root))
            continue;
        const uint32_t cpus = quota_of_path(root, group, version2);
        if (cpus && (!least || cpus < least))
            least = cpus;
    }
    free(text);
    return least;
}

uint32_t mshi_cpu_count(void)
{
    const uint32_t affinity = affinity_count();
    const uint32_t quota = mshi_cpu_quota("/proc/self/cgroup", "/sys/fs/cgroup");

    return quota && quota < affinity ? quota : affinity;
}
