/* The kernel of one instruction set: compiled once per LEVEL. */
#include <stdint.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

int64_t JOIN(kernel_level_, LEVEL)(void)
{
    return LEVEL;
}
