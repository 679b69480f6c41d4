//! Measures stack use: fills the memory below the stack with a pattern, and finds afterwards how much of it
//! was overwritten.

use core::hint::black_box;
use core::ptr;

/// Bytes to fill; the boards' stacks are larger.
const PAINTED: usize = 8192;
/// An upper bound on the frame size of the functions in this module.
const OWN: usize = 128;
const PAINT: u8 = 0xa5;

/// Stack memory filled with the pattern.
pub(crate) struct Painted {
    bottom: usize,
}

/// Fills the stack that the caller's next call will use.
#[inline(never)]
pub(crate) fn paint() -> Painted {
    let local = 0u8;
    let top = black_box(ptr::from_ref(&local)) as usize - OWN;
    for at in top - PAINTED..top {
        // SAFETY: this is the stack's own memory, below all frames in use; the linker script reserves more
        // than this for the stack.
        unsafe { ptr::write_volatile(at as *mut u8, PAINT) };
    }
    Painted { bottom: top - PAINTED }
}

impl Painted {
    /// Returns the bytes of the stack used since, to within 128.
    pub(crate) fn used(&self) -> u32 {
        let mut at = self.bottom;
        // SAFETY: as above; every byte read was filled or overwritten before.
        while at < self.bottom + PAINTED && unsafe { ptr::read_volatile(at as *const u8) } == PAINT {
            at += 1;
        }
        (self.bottom + PAINTED + OWN - at) as u32
    }
}
