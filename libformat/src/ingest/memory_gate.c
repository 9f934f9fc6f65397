/* memory_gate.c - a budget of bytes shared by decoding threads; see memory_gate.h for the rule */
#include "ingest/memory_gate.h"

#include <stdbool.h>
#include <stddef.h>

void mshi_memory_gate_init(struct mshi_memory_gate *gate, uint64_t budget)
{
    *gate = (struct mshi_memory_gate){.budget = budget};
    mshi_mutex_init(&gate->mutex);
    mshi_cond_init(&gate->changed);
}

void mshi_memory_gate_clear(struct mshi_memory_gate *gate)
{
    mshi_cond_destroy(&gate->changed);
    mshi_mutex_destroy(&gate->mutex);
}

static bool has_room(const struct mshi_memory_gate *gate, uint64_t bytes, uint64_t ticket)
{
    return ticket <= gate->turn || gate->held == 0 || (bytes <= gate->budget && gate->held <= gate->budget - bytes);
}

void mshi_memory_gate_enter(struct mshi_memory_gate *gate, uint64_t bytes, uint64_t ticket)
{
    if (gate == NULL)
        return;
    mshi_mutex_lock(&gate->mutex);
    if (bytes > gate->largest)
        gate->largest = bytes;
    while (!has_room(gate, bytes, ticket))
        mshi_cond_wait(&gate->changed, &gate->mutex);
    gate->held += bytes;
    mshi_mutex_unlock(&gate->mutex);
}

void mshi_memory_gate_leave(struct mshi_memory_gate *gate, uint64_t bytes)
{
    if (gate == NULL || bytes == 0)
        return;
    mshi_mutex_lock(&gate->mutex);
    gate->held -= bytes;
    mshi_cond_broadcast(&gate->changed);
    mshi_mutex_unlock(&gate->mutex);
}

void mshi_memory_gate_advance(struct mshi_memory_gate *gate, uint64_t turn)
{
    mshi_mutex_lock(&gate->mutex);
    gate->turn = turn;
    mshi_cond_broadcast(&gate->changed);
    mshi_mutex_unlock(&gate->mutex);
}

uint64_t mshi_memory_gate_limit(struct mshi_memory_gate *gate)
{
    uint64_t limit;

    mshi_mutex_lock(&gate->mutex);
    limit = gate->budget + gate->largest;
    mshi_mutex_unlock(&gate->mutex);
    return limit;
}
