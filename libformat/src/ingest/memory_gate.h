/*
 * memory_gate.h - a budget of bytes shared by decoding threads
 *
 * A decoder asks before it takes memory in proportion to an image, and waits while the budget is used up. Results
 * are consumed in the order of tickets; whoever works for the ticket that is consumed next never waits, or nothing
 * would move. What is held at one moment therefore stays below the budget and one request more.
 */
#ifndef MSHI_INGEST_MEMORY_GATE_H
#define MSHI_INGEST_MEMORY_GATE_H

#include "os/thread.h"
#include <stdint.h>

struct mshi_memory_gate {
    mshi_mutex mutex;
    mshi_cond changed;
    uint64_t budget;
    uint64_t held;    /* by mutex */
    uint64_t largest; /* by mutex: the most that one caller asked for */
    uint64_t turn;    /* by mutex: ticket that is consumed next */
};

void mshi_memory_gate_init(struct mshi_memory_gate *gate, uint64_t budget);
void mshi_memory_gate_clear(struct mshi_memory_gate *gate);
/* A NULL gate never waits. */
void mshi_memory_gate_enter(struct mshi_memory_gate *gate, uint64_t bytes, uint64_t ticket);
void mshi_memory_gate_leave(struct mshi_memory_gate *gate, uint64_t bytes);
void mshi_memory_gate_advance(struct mshi_memory_gate *gate, uint64_t turn);
/* The most that can be held: budget and the largest request so far. */
uint64_t mshi_memory_gate_limit(struct mshi_memory_gate *gate);

#endif
