//! Measures stack use: fills the memory below the stack with a pattern, and finds afterwards how much of it
//! was overwritten.

use core::arch::asm;
use core::ptr;

/// Bytes to fill; the boards' stacks are larger.
const PAINTED: usize = 8192;
const PAINT: u8 = 0xa5;

/// Runs a function that is not inlined; returns the bytes of stack below its caller's frame that it took.
#[inline(always)]
pub(crate) fn measured<T>(run: impl FnOnce() -> T) -> (u32, T) {
    let top = pointer();
    for at in top - PAINTED..top {
        // SAFETY: this is the stack's own memory, below the only frame in use, as nothing is called here; the
        // linker script reserves more than this for the stack.
        unsafe { ptr::write_volatile(at as *mut u8, PAINT) };
    }
    let out = run();
    let mut at = top - PAINTED;
    // SAFETY: as above; every byte read was filled or overwritten before.
    while at < top && unsafe { ptr::read_volatile(at as *const u8) } == PAINT {
        at += 1;
    }
    ((top - at) as u32, out)
}

/// Returns the stack pointer.
#[inline(always)]
fn pointer() -> usize {
    let at;
    #[cfg(target_arch = "arm")]
    // SAFETY: reads a register.
    unsafe {
        asm!("mov {}, sp", out(reg) at, options(nomem, nostack, preserves_flags))
    };
    #[cfg(target_arch = "riscv32")]
    // SAFETY: reads a register.
    unsafe {
        asm!("mv {}, sp", out(reg) at, options(nomem, nostack, preserves_flags))
    };
    at
}
