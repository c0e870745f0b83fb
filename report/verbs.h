/* The entry of each verb, declared from the table. */
#ifndef WARPWATCH_VERBS_H
#define WARPWATCH_VERBS_H

#include "cli.h"

#define VERB(name, function, help) verb_function function;
#include "verbs.def"
#undef VERB

#endif
