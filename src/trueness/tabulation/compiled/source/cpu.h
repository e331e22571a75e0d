/* The best instruction set of the processor that runs this, by the levels of the x86-64 ABI.
 *
 * A level counts only if the operating system saves its registers too: xgetbv says which ones it does.
 * macOS reports AVX-512 registers only after their first use, so it gets level 3.
 * No function of the C library is called.
 */
#ifndef TRUENESS_CPU_H
#define TRUENESS_CPU_H

#include <stdint.h>

#if defined(__x86_64__)
#include <cpuid.h>

typedef struct {
    uint32_t basic;    /* leaf 1, ecx */
    uint32_t newer;    /* leaf 7, ebx */
    uint32_t extended; /* leaf 0x80000001, ecx */
    uint32_t saved;    /* the register sets that the operating system saves */
} cpu_features;

/* Leaf 1, ecx. */
enum {
    CPU_SSE3 = 1 << 0, CPU_SSSE3 = 1 << 9, CPU_FMA = 1 << 12, CPU_CX16 = 1 << 13, CPU_SSE41 = 1 << 19,
    CPU_SSE42 = 1 << 20, CPU_MOVBE = 1 << 22, CPU_POPCNT = 1 << 23, CPU_OSXSAVE = 1 << 27, CPU_AVX = 1 << 28,
    CPU_F16C = 1 << 29
};
/* Leaf 7, ebx. The last flag is the sign bit of an int, hence unsigned constants. */
#define CPU_BMI1 (1u << 3)
#define CPU_AVX2 (1u << 5)
#define CPU_BMI2 (1u << 8)
#define CPU_AVX512F (1u << 16)
#define CPU_AVX512DQ (1u << 17)
#define CPU_AVX512CD (1u << 28)
#define CPU_AVX512BW (1u << 30)
#define CPU_AVX512VL (1u << 31)
/* Leaf 0x80000001, ecx. */
enum { CPU_LAHF = 1 << 0, CPU_LZCNT = 1 << 5 };
/* XCR0: SSE and AVX registers; with them the masks and both halves of the AVX-512 registers. */
enum { CPU_SAVES_AVX = 0x06, CPU_SAVES_AVX512 = 0xe6 };

static inline cpu_features cpu_read_features(void)
{
    cpu_features cpu = {0, 0, 0, 0};
    uint32_t a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d))
        cpu.basic = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
        cpu.newer = b;
    if (__get_cpuid(0x80000001u, &a, &b, &c, &d))
        cpu.extended = c;
    if (cpu.basic & CPU_OSXSAVE)
        __asm__ volatile("xgetbv" : "=a"(cpu.saved), "=d"(d) : "c"(0));
    return cpu;
}

static inline int cpu_has(uint32_t features, uint32_t needed)
{
    return (features & needed) == needed;
}

static inline int cpu_is_v2(cpu_features cpu)
{
    return cpu_has(cpu.basic, CPU_SSE3 | CPU_SSSE3 | CPU_CX16 | CPU_SSE41 | CPU_SSE42 | CPU_POPCNT)
        && cpu_has(cpu.extended, CPU_LAHF);
}

static inline int cpu_is_v3(cpu_features cpu)
{
    return cpu_has(cpu.basic, CPU_FMA | CPU_MOVBE | CPU_OSXSAVE | CPU_AVX | CPU_F16C)
        && cpu_has(cpu.newer, CPU_BMI1 | CPU_AVX2 | CPU_BMI2) && cpu_has(cpu.extended, CPU_LZCNT)
        && cpu_has(cpu.saved, CPU_SAVES_AVX);
}

static inline int cpu_is_v4(cpu_features cpu)
{
    return cpu_has(cpu.newer, CPU_AVX512F | CPU_AVX512DQ | CPU_AVX512CD | CPU_AVX512BW | CPU_AVX512VL)
        && cpu_has(cpu.saved, CPU_SAVES_AVX512);
}

static inline int64_t cpu_level(cpu_features cpu)
{
    if (!cpu_is_v2(cpu))
        return 0;
    if (!cpu_is_v3(cpu))
        return 2;
    return cpu_is_v4(cpu) ? 4 : 3;
}

/* 4, 3 or 2 for x86-64-v4, -v3 or -v2; 0 for an older processor, which no kernel is built for. */
static inline int64_t best_level(void)
{
    return cpu_level(cpu_read_features());
}

#elif defined(__aarch64__)

/* 1: NEON, which every 64-bit ARM processor has. */
static inline int64_t best_level(void)
{
    return 1;
}

#else
#error "kernels exist for x86-64 and 64-bit ARM"
#endif
#endif
