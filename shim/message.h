/* The few lines that the library may write on stderr. */
#ifndef WARPWATCH_MESSAGE_H
#define WARPWATCH_MESSAGE_H

/* One line, prefixed by "warpwatch: "; nothing if WARPWATCH_QUIET asks for it. */
__attribute__((format(printf, 1, 2))) void message(const char *format, ...);

#endif
