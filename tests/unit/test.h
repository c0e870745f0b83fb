/* cmocka with what it needs before it, in the order it needs. */
#ifndef WARPWATCH_TEST_H
#define WARPWATCH_TEST_H

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#endif
