/* Where the preloaded library is: beside this program, wherever both were installed or built. */
#ifndef WARPWATCH_LIBRARY_H
#define WARPWATCH_LIBRARY_H

/* The absolute path of libwarpwatch.so; complains and returns NULL if it is not there. The caller frees. */
char *library_path(void);

#endif
