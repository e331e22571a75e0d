/* The exported functions: each calls the kernel of the chosen instruction set. */
#include <stdint.h>

#include "cpu.h"

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#if defined(TRUENESS_X86)
int64_t kernel_level_2(void);
int64_t kernel_level_3(void);
int64_t kernel_level_4(void);
#else
int64_t kernel_level_1(void);
#endif

EXPORT int64_t trueness_abi(void)
{
    return 1;
}

/* The level of the kernel for a wish: the best one up to it, or the best of all for 0. */
EXPORT int64_t trueness_level(int64_t wish)
{
    int64_t best = best_level();
    int64_t level = wish > 0 && wish < best ? wish : best;
#if defined(TRUENESS_X86)
    return level == 4 ? kernel_level_4() : level == 3 ? kernel_level_3() : level == 2 ? kernel_level_2() : 0;
#else
    return level == 1 ? kernel_level_1() : 0;
#endif
}
