/* Changing the table of keys while other threads read it. */
#include "keys.h"

#include "memory.h"

enum { FIRST_SLOTS = 1024, MOST_KEYS = 1 << 17, FULL_TABLE = 1 };

static uint32_t used, made, free_list;

static uint64_t table_bytes(uint32_t slots)
{
    return sizeof(struct key_table) + (uint64_t)slots * sizeof(uint32_t);
}

static struct key_table *table_new(uint32_t slots)
{
    struct key_table *table = memory_map(table_bytes(slots));
    if (table) {
        table->mask = slots - 1;
        table->shift = (uint32_t)__builtin_clz(slots - 1);
    }
    return table;
}

/* A reader must find a table, if only one that has nothing in it and takes nothing. */
static struct {
    uint32_t mask, shift;
    _Atomic uint32_t slots[FULL_TABLE];
} empty_table = {.shift = 32};

void keys_open(struct keys *keys)
{
    used = made = free_list = 0;
    keys->records = memory_map((uint64_t)MOST_KEYS * sizeof *keys->records);
    struct key_table *table = keys->records ? table_new(FIRST_SLOTS) : NULL;
    store_release(&keys->table, table ? table : (struct key_table *)&empty_table);
}

static uint32_t key_home(const struct launch_key *key, const struct key_table *table)
{
    struct launch_words words = {key->function, key->grid, key->block, key->extras, key->place};
    return keys_home(table, keys_hash(&words));
}

static void put(struct key_table *table, const struct keys *keys, uint32_t index)
{
    uint32_t i = key_home(&keys->records[index], table);
    while (load_relaxed(&table->slots[i])) {
        i = (i + 1) & table->mask;
    }
    store_release(&table->slots[i], index);
}

/* The old table is left to the threads that may still read it: all old ones together are smaller than the
 * new. */
static bool grow(struct keys *keys)
{
    struct key_table *old = load_relaxed(&keys->table), *table = table_new((old->mask + 1) * 2);
    if (table == NULL) {
        return false;
    }
    for (uint32_t i = 0; i <= old->mask; i++) {
        uint32_t index = load_relaxed(&old->slots[i]);
        if (index) {
            put(table, keys, index);
        }
    }
    store_release(&keys->table, table);
    return true;
}

static uint32_t key_allocate(struct keys *keys)
{
    uint32_t index = free_list;
    if (index) {
        free_list = keys->records[index].next;
        return index;
    }
    return made + 1 < MOST_KEYS ? ++made : 0;
}

static void key_write(struct launch_key *key, const struct launch_words *words, uint32_t target)
{
    uint32_t version = load_relaxed(&key->version);
    store_relaxed(&key->version, version + 1);
    store_release(&key->function, words->function);
    store_release(&key->grid, words->grid);
    store_release(&key->block, words->block);
    store_release(&key->extras, words->extras);
    store_release(&key->place, words->place);
    store_release(&key->target, target);
    store_release(&key->target_hash, keys_target_hash(target));
    store_release(&key->version, version + 2);
}

uint32_t keys_insert(struct keys *keys, const struct launch_words *words, uint32_t target, uint32_t next)
{
    struct key_table *table = load_relaxed(&keys->table);
    if (table->mask == 0 || (used >= (table->mask + 1) / 2 && !grow(keys))) {
        return 0;
    }
    uint32_t index = key_allocate(keys);
    if (index) {
        key_write(&keys->records[index], words, target);
        keys->records[index].next = next;
        put(load_relaxed(&keys->table), keys, index);
        used++;
    }
    return index;
}

/* Backward shift: a thread that reads meanwhile may miss a key that moves, and then asks under the lock. */
static void take_out(struct key_table *table, const struct keys *keys, uint32_t index)
{
    uint32_t hole = key_home(&keys->records[index], table);
    while (load_relaxed(&table->slots[hole]) != index) {
        hole = (hole + 1) & table->mask;
    }
    for (uint32_t i = (hole + 1) & table->mask; load_relaxed(&table->slots[i]); i = (i + 1) & table->mask) {
        uint32_t moved = load_relaxed(&table->slots[i]), home = key_home(&keys->records[moved], table);
        if (((i - home) & table->mask) >= ((i - hole) & table->mask)) {
            store_release(&table->slots[hole], moved);
            hole = i;
        }
    }
    store_release(&table->slots[hole], 0);
}

void keys_end(struct keys *keys, uint32_t first)
{
    while (first && keys->records) { /* a fork's child has none */
        struct launch_key *key = &keys->records[first];
        uint32_t next = key->next;
        take_out(load_relaxed(&keys->table), keys, first);
        static const struct launch_words nothing;
        key_write(key, &nothing, STORE_NO_TARGET);
        key->next = free_list;
        free_list = first;
        used--;
        first = next;
    }
}
