/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What differs between machines: system calls, the start of the program, and a clone with a stack
 * of its own.  For machines that are not here libc has them, and the program of players is larger.
 */
#ifndef SCHEDTAPE_ARCH_H
#define SCHEDTAPE_ARCH_H

#include <sys/syscall.h>

#if defined(__x86_64__)

/* Makes a system call.  Returns its result, or -errno. */
static inline long arch_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a" (result)
			 : "a" (number), "D" (a), "S" (b), "d" (c), "r" (r10), "r" (r8), "r" (r9)
			 : "rcx", "r11", "memory");
	return result;
}

/*
 * Clones the calling thread.  The child's stack ends at @top, which is a multiple of 16; it calls
 * the function at @top[-1], which must not return, with the argument at @top[-2].  The kernel
 * clears *@tid when the child has ended.  Returns the child's PID, or -errno.
 */
static inline long arch_clone(unsigned long flags, void **top, int *tid)
{
	register long r10 __asm__("r10") = (long)tid;
	register long r8 __asm__("r8") = 0;
	long result;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "pop %%rdi\n\t"
			 "pop %%rax\n\t"
			 "call *%%rax\n\t"
			 "ud2\n"
			 "1:"
			 : "=a" (result)
			 : "a" (SYS_clone), "D" (flags), "S" (top - 2), "d" (0), "r" (r10), "r" (r8)
			 : "rcx", "r11", "memory", "cc");
	return result;
}

/* Calls start_player() with the address of argc. */
#define ARCH_START					\
	"_start:\n\t"					\
	"xor %ebp, %ebp\n\t"				\
	"mov %rsp, %rdi\n\t"				\
	"and $-16, %rsp\n\t"				\
	"call start_player\n\t"				\
	"ud2\n"

#define ARCH_VDSO_CLOCK	"__vdso_clock_gettime"

#elif defined(__aarch64__)

static inline long arch_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0"
			 : "+r" (x0)
			 : "r" (x8), "r" (x1), "r" (x2), "r" (x3), "r" (x4), "r" (x5)
			 : "memory", "cc");
	return x0;
}

static inline long arch_clone(unsigned long flags, void **top, int *tid)
{
	register long x8 __asm__("x8") = SYS_clone;
	register long x0 __asm__("x0") = flags;
	register long x1 __asm__("x1") = (long)(top - 2);
	register long x2 __asm__("x2") = 0;
	register long x3 __asm__("x3") = 0;
	register long x4 __asm__("x4") = (long)tid;

	__asm__ volatile("svc #0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, xzr\n\t"
			 "ldp x0, x1, [sp], #16\n\t"
			 "blr x1\n\t"
			 "brk #1\n"
			 "1:"
			 : "+r" (x0)
			 : "r" (x8), "r" (x1), "r" (x2), "r" (x3), "r" (x4)
			 : "memory", "cc");
	return x0;
}

#define ARCH_START					\
	"_start:\n\t"					\
	"mov x29, xzr\n\t"				\
	"mov x30, xzr\n\t"				\
	"mov x0, sp\n\t"				\
	"bl start_player\n\t"				\
	"brk #1\n"

#define ARCH_VDSO_CLOCK	"__kernel_clock_gettime"

#else
/* With libc.  Threads share the first one's errno, so an error may be that of another's call. */
#define ARCH_LIBC

#include <errno.h>
#include <sched.h>
#include <unistd.h>

static inline long arch_call(long number, long a, long b, long c, long d, long e, long f)
{
	long result = syscall(number, a, b, c, d, e, f);

	return result == -1 ? -errno : result;
}

static inline long arch_clone(unsigned long flags, void **top, int *tid)
{
	long result = clone((int (*)(void *))top[-1], top, flags, top[-2], NULL, NULL, tid);

	return result < 0 ? -errno : result;
}

#endif

#endif /* SCHEDTAPE_ARCH_H */
