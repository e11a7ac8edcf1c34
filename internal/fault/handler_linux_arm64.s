#include "textflag.h"

DATA ·handlerPC(SB)/8, $handler<>(SB)
GLOBL ·handlerPC(SB), NOPTR, $8

// handler(R0 signal, R1 *siginfo, R2 context) is called by the kernel.
TEXT handler<>(SB), NOSPLIT|NOFRAME, $0
	MOVW 8(R1), R3
	CMPW $2, R3 // si_code, BUS_ADRERR
	BNE  next
	MOVD ·execPath(SB), R0
	MOVD ·execArgv(SB), R1
	MOVD ·execEnv(SB), R2
	MOVD $221, R8 // execve
	SVC
	MOVD $3, R0 // it did not; end all the same
	MOVD $94, R8 // exit_group
	SVC

next:
	MOVD ·nextPC(SB), R3
	JMP  (R3)
