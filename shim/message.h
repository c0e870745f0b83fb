/* The few lines that the library may write on stderr. */
#ifndef WARPWATCH_MESSAGE_H
#define WARPWATCH_MESSAGE_H

#include <stdbool.h>

/* When the library is loaded: what is stderr now is stderr later, and nothing else is. */
void message_start(void);

/* Has there been a line already? One is enough for what follows from the same trouble. */
bool message_said(void);

/* One line, prefixed by "warpwatch: "; nothing if WARPWATCH_QUIET asks for it. */
__attribute__((format(printf, 1, 2))) void message(const char *format, ...);

#endif
